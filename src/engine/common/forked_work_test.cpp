#include "engine/common/forked_work.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/throwing.hpp"

namespace oyat::engine {
namespace {

template <class T>
Result<T> outcome_of(Work<T>& work) {
    for (;;) {
        if (std::optional<Result<T>> outcome = work.advance()) return *std::move(outcome);
        pollfd wait{work.fd(), POLLIN, 0};
        ::poll(&wait, 1, 10'000);
    }
}

TEST(ForkedWork, TellsWhatItsBodyReturned) {
    const auto work = forked([] { return "in " + std::to_string(::getppid()); }, [] {});
    EXPECT_EQ(outcome_of(*work).value(), "in " + std::to_string(::getpid()));
    const auto silent = forked([] { return std::string{}; }, [] {});
    EXPECT_EQ(outcome_of(*silent).value(), "");
}

TEST(ForkedWork, TellsWhyItFailedAndIsUndone) {
    bool undone = false;
    const auto work =
        forked([]() -> std::string { throw Error{Errc::exhausted, "no room"}; }, [&] { undone = true; });
    EXPECT_EQ(outcome_of(*work).error().message(), "no room");
    EXPECT_TRUE(undone);
}

TEST(ForkedWork, IsEndedAndUndoneWhenItIsGivenUp) {
    bool undone = false;
    {
        const auto work = forked_doing([] { ::pause(); }, [&] { undone = true; });
        EXPECT_FALSE(work->advance());
    }
    EXPECT_TRUE(undone);
}

TEST(ForkedWork, StartsAProcessThatOutlivesIt) {
    const auto work = forked_start(
        [] {
            const pid_t pid = ::fork();
            if (pid == 0) {
                ::execlp("sleep", "sleep", "60", nullptr);
                ::_exit(1);
            }
            return pid;
        },
        [] {});
    const Result<Process> process = outcome_of(*work);
    ASSERT_TRUE(process);
    EXPECT_FALSE(has_ended(*process));
    kill_process(*process);
    pollfd ended{process->pidfd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 10'000), 1);
}

TEST(ForkedWork, SaysWhenTheProcessIsGoneAlready) {
    const auto work = forked_start(
        [] {
            const pid_t pid = ::fork();
            if (pid == 0) ::_exit(0);
            ::waitpid(pid, nullptr, 0);
            return pid;
        },
        [] {});
    EXPECT_EQ(outcome_of(*work).error().code(), Errc::unavailable);
}

}  // namespace
}  // namespace oyat::engine
