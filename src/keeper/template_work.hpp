#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "keeper/loop.hpp"
#include "layers/job.hpp"

namespace oyat::keeper {

// Imports, exports and searches that run in child processes while the keeper goes on. At most a few at a
// time.
class TemplateWork {
public:
    static constexpr std::size_t kMaxJobs = 4;
    using DoneHandler = std::function<void(Result<layers::TemplateMeta>)>;
    using ProgressHandler = std::function<void(const layers::Job::Progress&)>;

    explicit TemplateWork(Loop& loop) : loop_{loop} {}
    ~TemplateWork();
    TemplateWork(const TemplateWork&) = delete;
    TemplateWork& operator=(const TemplateWork&) = delete;

    // Throws `exhausted` when too many run: call before the job is begun.
    void require_room() const;
    void start(std::unique_ptr<layers::Job> job, ProgressHandler on_progress, DoneHandler on_done);

private:
    struct Running {
        std::unique_ptr<layers::Job> job;
        ProgressHandler on_progress;
        DoneHandler on_done;
        MonoTime told{};
    };
    void advance(std::list<Running>::iterator running);

    Loop& loop_;
    std::list<Running> running_;
};

}  // namespace oyat::keeper
