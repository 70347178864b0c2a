#include "layers/child_job.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

struct Report {
    enum class Kind : std::uint8_t { progress, done, failed };
    Kind kind = Kind::progress;
    Errc code = Errc::internal;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::array<char, 480> text{};  // the digest, or the reason of a failure

    void set_text(std::string_view from) { std::ranges::copy(from.substr(0, text.size() - 1), text.begin()); }
    [[nodiscard]] std::string read_text() const {
        return {text.data(),
                ::strnlen(text.data(), text.size())};  // a confined child may have written anything
    }
};

void send(int pipe, const Report& report) {
    if (::write(pipe, &report, sizeof report) != sizeof report) ::_exit(2);  // nobody listens any more
}

struct Pipe {
    Fd read_end;
    Fd write_end;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    sys(::pipe2(ends.data(), O_CLOEXEC), "pipe");
    return {Fd{ends[0]}, Fd{ends[1]}};
}

[[noreturn]] void run_child(int pipe, const ChildJob::Work& work, ChildJob::Priority priority) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_IGN);
    if (priority == ChildJob::Priority::low) ::setpriority(PRIO_PROCESS, 0, 10);
    JobReporter reporter{pipe};
    try {
        work(reporter);
        ::_exit(0);
    } catch (const Error& e) {
        reporter.failed(e);
    } catch (const std::exception& e) {  // no memory, above all
        reporter.failed(Error{Errc::exhausted, e.what()});
    }
    ::_exit(1);
}

pid_t fork_quietly() {
    clone_args args{.flags = 0, .exit_signal = 0};  // nobody else's waitpid takes it
    return static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "start child"));
}

}  // namespace

void run_apart(JobReporter& outer, const std::function<void(JobReporter&)>& work) {
    Pipe pipe = make_pipe();
    const pid_t child = fork_quietly();
    if (child == 0) run_child(pipe.write_end.get(), work, ChildJob::Priority::low);
    pipe.write_end.reset();
    std::optional<Error> failure;
    Report report;
    while (::read(pipe.read_end.get(), &report, sizeof report) == sizeof report) {
        if (report.kind == Report::Kind::progress) outer.progress(report.files, report.bytes);
        if (report.kind == Report::Kind::failed) failure.emplace(report.code, report.read_text());
    }
    int status = 0;
    sys(::waitpid(child, &status, __WALL), "wait for child");
    if (failure) throw *failure;
    if (status != 0) throw Error{Errc::internal, "the child died in the middle of its work"};
}

void JobReporter::progress(std::uint64_t files, std::uint64_t bytes) {
    if (files < told_files_ + 2000 && bytes < told_bytes_ + (64 << 20)) return;
    told_files_ = files;
    told_bytes_ = bytes;
    send(pipe_, {.kind = Report::Kind::progress, .files = files, .bytes = bytes});
}

void JobReporter::done(std::uint64_t files, std::uint64_t bytes, const std::string& digest) {
    Report report{.kind = Report::Kind::done, .files = files, .bytes = bytes};
    report.set_text(digest);
    send(pipe_, report);
}

void JobReporter::failed(const Error& error) {
    Report report{.kind = Report::Kind::failed, .code = error.code()};
    report.set_text(error.message());
    send(pipe_, report);
}

ChildJob::ChildJob(const Work& work, Finish finish, Abandon abandon, Priority priority)
    : finish_{std::move(finish)}, abandon_{std::move(abandon)} {
    Pipe pipe = make_pipe();
    sys(::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK), "pipe");
    child_ = fork_quietly();
    if (child_ == 0) run_child(pipe.write_end.get(), work, priority);
    pipe_ = std::move(pipe.read_end);
}

ChildJob::~ChildJob() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, __WALL);
    abandon_();
}

std::optional<Result<TemplateMeta>> ChildJob::advance() {
    for (;;) {
        Report report;
        const ssize_t got = ::read(pipe_.get(), &report, sizeof report);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
        if (got != sizeof report) return end();
        progress_ = {.files = report.files, .bytes = report.bytes};
        if (report.kind == Report::Kind::done) digest_ = report.read_text();
        if (report.kind == Report::Kind::failed) failure_.emplace(report.code, report.read_text());
    }
}

// The pipe is closed: the child has ended or is about to.
Result<TemplateMeta> ChildJob::end() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, __WALL);
    child_ = -1;
    try {
        if (failure_) throw *failure_;
        if (digest_.empty()) throw Error{Errc::internal, "the child died in the middle of its work"};
        return finish_(digest_, progress_);
    } catch (const Error& e) {
        abandon_();
        return std::unexpected{e};
    }
}

}  // namespace oyat::layers
