#include "engine/common/forked_work.hpp"

#include <charconv>
#include <utility>

#include "base/throwing.hpp"
#include "layers/child_job.hpp"

namespace oyat::engine {
namespace {

using layers::ChildJob;
using layers::JobReporter;
using layers::TemplateMeta;

// A child's job reports a text when it is done; `T` is made of it here.
template <class T>
class Forked final : public Work<T> {
public:
    using Read = std::function<T(const std::string& said)>;

    Forked(std::function<std::string()> body, std::function<void()> undo, Read read)
        : read_{std::move(read)},
          job_{[body = std::move(body)](JobReporter& reporter) { reporter.done(0, 0, kSaid + body()); },
               [](const std::string& said, layers::Job::Progress) { return TemplateMeta{.digest = said}; },
               std::move(undo), ChildJob::Priority::same} {}

    [[nodiscard]] int fd() const noexcept override { return job_.fd(); }
    [[nodiscard]] std::optional<Result<T>> advance() override {
        const std::optional<Result<TemplateMeta>> outcome = job_.advance();
        if (!outcome) return std::nullopt;
        if (!*outcome) return Result<T>{std::unexpected{outcome->error()}};
        try {
            return Result<T>{read_((*outcome)->digest.substr(kSaid.size()))};
        } catch (const Error& error) {
            return Result<T>{std::unexpected{error}};
        }
    }

private:
    inline static const std::string kSaid = "=";  // so that a text may be empty

    Read read_;
    ChildJob job_;
};

Process process_of(const std::string& said) {
    pid_t pid = -1;
    std::from_chars(said.data(), said.data() + said.size(), pid);
    const std::optional<std::uint64_t> started = start_ticks_of(pid);
    std::optional<Process> process = started ? find_process(pid, *started) : std::nullopt;
    if (!process) throw Error{Errc::unavailable, Fault::engine, "the sandbox died at its start"};
    return *std::move(process);
}

}  // namespace

std::unique_ptr<Work<std::string>> forked(std::function<std::string()> body, std::function<void()> undo) {
    return std::make_unique<Forked<std::string>>(std::move(body), std::move(undo),
                                                 [](const std::string& said) { return said; });
}

std::unique_ptr<Work<Process>> forked_start(std::function<pid_t()> body, std::function<void()> undo) {
    return std::make_unique<Forked<Process>>([body = std::move(body)] { return std::to_string(body()); },
                                             std::move(undo), process_of);
}

std::unique_ptr<Work<Nothing>> forked_doing(std::function<void()> body, std::function<void()> undo) {
    return std::make_unique<Forked<Nothing>>(
        [body = std::move(body)] {
            body();
            return std::string{};
        },
        std::move(undo), [](const std::string&) { return Nothing{}; });
}

}  // namespace oyat::engine
