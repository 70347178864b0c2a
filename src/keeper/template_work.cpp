#include "keeper/template_work.hpp"

#include <utility>

#include "base/defer.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr Millis kProgressEvery{200};

}  // namespace

TemplateWork::~TemplateWork() {
    for (const Running& running : running_) loop_.forget(running.job->fd());
}

void TemplateWork::require_room() const {
    if (running_.size() >= kMaxJobs)
        throw Error{Errc::exhausted, "too much slow work of this kind runs at once"};
}

void TemplateWork::start(std::unique_ptr<layers::Job> job, ProgressHandler on_progress, DoneHandler on_done) {
    running_.push_front({std::move(job), std::move(on_progress), std::move(on_done)});
    const auto running = running_.begin();
    Defer give_up{[&] { running_.erase(running); }};
    loop_.watch(running->job->fd(), [this, running](std::uint32_t) { advance(running); });
    give_up.dismiss();
}

void TemplateWork::advance(std::list<Running>::iterator running) {
    const int fd = running->job->fd();
    if (std::optional<Result<layers::TemplateMeta>> outcome = running->job->advance()) {
        loop_.forget(fd);
        const DoneHandler done = std::move(running->on_done);
        running_.erase(running);
        done(*std::move(outcome));
        return;
    }
    const MonoTime now = std::chrono::steady_clock::now();
    if (now - running->told < kProgressEvery) return;
    running->told = now;
    running->on_progress(running->job->progress());
}

}  // namespace oyat::keeper
