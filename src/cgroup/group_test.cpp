#include "cgroup/group.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "cgroup/files.hpp"
#include "cgroup/inhabitant.hpp"
#include "cgroup/oom_watch.hpp"
#include "cgroup/parent.hpp"

namespace oyat::cgroup {
namespace {

constexpr uid_t kOwner = 0x70000000;
constexpr Limits kLimits{.memory_bytes = 64 << 20, .cpu_millis = 500, .processes = 16};

// Each promise is held to on this machine as it is and, where it has v1 controllers, as if it had nothing
// else.
enum class View { whole, v1_alone };

Hierarchies seen(View view) {
    if (view == View::whole) return Hierarchies::probe();
    std::ifstream file{"/proc/self/mountinfo"};
    std::string kept;
    for (std::string line; std::getline(file, line);) {
        if (line.find(" - cgroup2 ") == std::string::npos) kept += line + "\n";
    }
    return Hierarchies::parse(kept);
}

class GroupTest : public testing::TestWithParam<View> {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "making control groups needs root";
        const Hierarchies hierarchies = seen(GetParam());
        if (hierarchies.mode() == Mode::none) GTEST_SKIP() << "this machine has no such control groups";
        parent_.emplace(hierarchies, state_id());
    }
    void TearDown() override {
        if (!parent_) return;
        for (const std::string& name : parent_->names()) {
            EXPECT_TRUE(parent_->find(name)->destroy()) << name;
        }
        EXPECT_TRUE(parent_->remove());
    }

    static std::string state_id() { return "test-" + std::to_string(::getpid()); }

    std::optional<Parent> parent_;
};

TEST_P(GroupTest, ANewGroupIsEmptyAndHasItsLimits) {
    const Group group = parent_->create("i1", kLimits, kOwner);
    EXPECT_TRUE(group.empty());
    EXPECT_EQ(group.stats().pids_now, 0U);
    EXPECT_EQ(parent_->names(), std::vector<std::string>{"i1"});
}

TEST_P(GroupTest, TheSameNameTwiceIsRefusedAndLeavesTheFirstAlone) {
    const Group group = parent_->create("i1", kLimits, kOwner);
    EXPECT_THROW((void)parent_->create("i1", kLimits, kOwner), Error);
    EXPECT_TRUE(parent_->find("i1"));
}

TEST_P(GroupTest, NamesThatCouldBePathsAreRefused) {
    for (const char* name : {"", "..", "a/b", "A", "cgroup.procs", "a b"}) {
        EXPECT_THROW((void)parent_->create(name, kLimits, kOwner), Error) << name;
        EXPECT_THROW((void)parent_->find(name), Error) << name;
    }
}

TEST_P(GroupTest, AProcessIsBornInsideAndCounted) {
    const Group group = parent_->create("i1", kLimits, kOwner);
    Inhabitant inside{group, sleep_forever};
    EXPECT_EQ(group.stats().pids_now, 1U);
    EXPECT_FALSE(group.empty());
    EXPECT_FALSE(group.destroy());
    group.kill();
    EXPECT_TRUE(WIFSIGNALED(inside.wait()));
    EXPECT_TRUE(group.destroy());
}

TEST_P(GroupTest, ForksBeyondTheLimitFailAndAreCounted) {
    const Group group = parent_->create("i1", {.processes = 4}, kOwner);
    Inhabitant inside{group, [] {
                          int made = 1;
                          while (true) {
                              const pid_t child = ::fork();
                              if (child == 0) sleep_forever();
                              if (child < 0) return errno == EAGAIN ? made : 0;
                              ++made;
                          }
                      }};
    EXPECT_EQ(WEXITSTATUS(inside.wait()), 4);
    EXPECT_EQ(group.stats().pids_denied, 1U);
    group.kill();
    while (!group.empty()) ::sched_yield();
}

int use_memory(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
    return 0;
}

TEST_P(GroupTest, AProcessBeyondTheMemoryLimitIsKilledAndTold) {
    OomWatch watch{*parent_};
    const Group group = parent_->create("i1", {.memory_bytes = 16 << 20}, kOwner);
    const Group quiet = parent_->create("i2", {.memory_bytes = 16 << 20}, kOwner);
    watch.add(group);
    watch.add(quiet);
    Inhabitant small{quiet, [] { return use_memory(4 << 20); }};
    EXPECT_EQ(small.wait(), 0);
    Inhabitant big{group, [] { return use_memory(64 << 20); }};
    EXPECT_EQ(WTERMSIG(big.wait()), SIGKILL);
    pollfd told{.fd = watch.fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&told, 1, 2000), 1);
    EXPECT_EQ(watch.take(), std::vector<std::string>{"i1"});
    const Stats stats = group.stats();
    EXPECT_EQ(stats.oom_kills, 1U);
    EXPECT_GT(stats.memory_peak, 15U << 20);
    watch.remove("i1");
    watch.remove("i2");
}

TEST_P(GroupTest, LimitsCanBeChangedInUse) {
    const Group group = parent_->create("i1", {.memory_bytes = 16 << 20, .processes = 4}, kOwner);
    group.update({.memory_bytes = 128 << 20, .cpu_millis = 1000, .processes = 8});
    Inhabitant big{group, [] { return use_memory(64 << 20); }};
    EXPECT_EQ(big.wait(), 0);
    group.update({});  // no limits at all
}

TEST_P(GroupTest, CpuBeyondTheLimitIsThrottled) {
    const Group group = parent_->create("i1", {.cpu_millis = 100}, kOwner);
    Inhabitant spinning{group, [] {
                            for (volatile int i = 0;; i = i + 1) {
                            }
                            return 0;
                        }};
    while (group.stats().throttled_us == 0) ::sched_yield();
    EXPECT_GT(group.stats().cpu_us, 0U);
}

std::string state_of(pid_t pid) {
    const Fd dir{::open(("/proc/" + std::to_string(pid)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const std::string text = read_control(dir.get(), "stat").value_or("");
    return text.substr(text.rfind(')') + 2, 1);
}

TEST_P(GroupTest, AFrozenGroupStandsStillAndCanBeThawedOrKilled) {
    const Group group = parent_->create("i1", {}, kOwner);
    Inhabitant spinning{group, [] {
                            for (volatile int i = 0;; i = i + 1) {
                            }
                            return 0;
                        }};
    EXPECT_TRUE(group.freeze(Millis{2000}));
    EXPECT_TRUE(group.frozen());
    EXPECT_NE(state_of(spinning.pid()), "R");
    group.thaw();
    EXPECT_FALSE(group.frozen());
    EXPECT_TRUE(group.freeze(Millis{2000}));
    group.kill();
    EXPECT_EQ(WTERMSIG(spinning.wait()), SIGKILL);
}

// What the agent does with its descriptor 4, as the sandbox's mapped root without any capability.
TEST_P(GroupTest, TheOwnerMakesChildGroupsAndMovesItselfButCanNotTouchLimits) {
    const Group group = parent_->create("i1", kLimits, kOwner);
    if (!group.tree_fd()) GTEST_SKIP() << "no v2 tree on this machine";
    Inhabitant agent{
        group, [&] {
            const Fd tree = group.tree_fd();
            if (::setresgid(kOwner, kOwner, kOwner) != 0 || ::setresuid(kOwner, kOwner, kOwner) != 0)
                return 1;
            if (::mkdirat(tree.get(), "c1", 0755) != 0) return 2;
            const Fd procs{::openat(tree.get(), "c1/cgroup.procs", O_WRONLY)};
            if (::write(procs.get(), "0", 1) != 1) return 3;
            if (::mkdirat(tree.get(), "c1/deeper", 0755) == 0) return 4;
            for (const char* file : {"cgroup.freeze", "cgroup.kill", "cgroup.max.descendants",
                                     "cgroup.subtree_control", "memory.max", "pids.max"}) {
                if (Fd{::openat(tree.get(), file, O_WRONLY)}) return 5;
            }
            const Fd above{::openat(tree.get(), "../cgroup.procs", O_WRONLY)};
            if (above && ::write(above.get(), "0", 1) == 1) return 6;
            return 0;
        }};
    EXPECT_EQ(agent.wait(), 0);
    EXPECT_TRUE(group.destroy());  // the child group with it
}

TEST_P(GroupTest, ALaterKeeperFindsWhatAnEarlierLeft) {
    (void)parent_->create("i1", kLimits, kOwner);
    Parent later{seen(GetParam()), state_id()};
    EXPECT_EQ(later.names(), std::vector<std::string>{"i1"});
    EXPECT_FALSE(later.remove());
    EXPECT_FALSE(later.find("i2"));
    EXPECT_TRUE(later.find("i1")->destroy());
    EXPECT_TRUE(later.find("i1") == std::nullopt);
}

TEST_P(GroupTest, EachLimitSaysHowItIsEnforced) {
    for (const Mechanism& mechanism : parent_->mechanisms()) {
        EXPECT_FALSE(mechanism.by.empty()) << mechanism.limit;
    }
    EXPECT_EQ(parent_->mechanisms().size(), 4U);
}

TEST_P(GroupTest, WithoutControllersTheMechanismsSayWhichLimitIsMissing) {
    const Parent bare{Hierarchies{}, state_id() + "-bare"};
    for (const Mechanism& mechanism : bare.mechanisms()) {
        EXPECT_FALSE(mechanism.hard) << mechanism.limit;
        EXPECT_TRUE(mechanism.by.starts_with("not enforced")) << mechanism.by;
    }
}

INSTANTIATE_TEST_SUITE_P(Views, GroupTest, testing::Values(View::whole, View::v1_alone),
                         [](const auto& info) {
                             return info.param == View::whole ? "WholeMachine" : "V1Alone";
                         });

}  // namespace
}  // namespace oyat::cgroup
