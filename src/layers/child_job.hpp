#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "layers/job.hpp"

namespace oyat::layers {

// The child's way to tell its Job how far it is. Each report is one fixed-size record, which a pipe takes
// whole.
class JobReporter {
public:
    explicit JobReporter(int pipe) : pipe_{pipe} {}

    // Tells at most once per 64 MiB or 2,000 files.
    void progress(std::uint64_t files, std::uint64_t bytes);
    void done(std::uint64_t files, std::uint64_t bytes, const std::string& digest);
    void failed(const Error& error);

    [[nodiscard]] int fd() const noexcept { return pipe_; }

private:
    int pipe_;
    std::uint64_t told_files_ = 0;
    std::uint64_t told_bytes_ = 0;
};

// Runs `work` in a child of its own and passes its progress on; throws what it reports as failed, or when it
// dies. For work on hostile bytes: whatever becomes of that child, it can tell no more than how far it is.
void run_apart(JobReporter& outer, const std::function<void(JobReporter&)>& work);

// A Job whose work is a function that runs in a forked child. `work` reports `done` before it returns, or
// throws. `finish` then runs in the parent and makes the outcome; `abandon` runs in the parent when the child
// failed, or when `finish` did, or when the Job is destroyed before its end.
class ChildJob final : public Job {
public:
    using Work = std::function<void(JobReporter&)>;
    using Finish = std::function<TemplateMeta(const std::string& digest, Progress counted)>;
    using Abandon = std::function<void()>;

    // `low` gives way to what serves requests; `same` is for work that a request waits for.
    enum class Priority : std::uint8_t { low, same };
    ChildJob(const Work& work, Finish finish, Abandon abandon, Priority priority = Priority::low);
    ~ChildJob() override;
    ChildJob(const ChildJob&) = delete;
    ChildJob& operator=(const ChildJob&) = delete;

    [[nodiscard]] int fd() const noexcept override { return pipe_.get(); }
    [[nodiscard]] std::optional<Result<TemplateMeta>> advance() override;
    [[nodiscard]] Progress progress() const noexcept override { return progress_; }

private:
    Result<TemplateMeta> end();

    Finish finish_;
    Abandon abandon_;
    Fd pipe_;
    pid_t child_ = -1;
    Progress progress_;
    std::string digest_;            // once the child is done
    std::optional<Error> failure_;  // what the child said last
};

}  // namespace oyat::layers
