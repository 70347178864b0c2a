#include "engine/microvm/microvm.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "engine/microvm/test_machine.hpp"

namespace oyat::microvm {
namespace {

using test::outcome_of;
using test::Sandbox;
using test::World;

class MicrovmTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        if (::geteuid() != 0) return;
        world_ = std::make_unique<World>();
        missing_ = what_is_missing(world_->places());
        if (missing_.empty()) {
            engine_ = std::make_unique<Microvm>(
                Microvm::Options{.places = world_->places(), .accelerator = Accelerator::tcg});
        }
    }
    static void TearDownTestSuite() {
        engine_.reset();
        world_.reset();
    }
    void SetUp() override {
        if (!world_) GTEST_SKIP() << "needs root";
        if (!missing_.empty()) GTEST_SKIP() << missing_;
    }

    static std::string status_of(pid_t pid) {
        std::ifstream file{"/proc/" + std::to_string(pid) + "/status"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    static std::set<std::string> names_in(const std::string& directory) {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator{directory}) {
            names.insert(entry.path().filename());
        }
        return names;
    }

    static inline std::unique_ptr<World> world_;
    static inline std::unique_ptr<Microvm> engine_;
    static inline std::string missing_;
};

TEST_F(MicrovmTest, ASandboxHasAKernelAndNamesOfItsOwn) {
    Sandbox sandbox{*world_};
    sandbox.generation = 12345;
    sandbox.start(*engine_);
    engine::AgentLine agent = sandbox.line();
    EXPECT_EQ(agent.greet().generation, 12345U);
    EXPECT_EQ(Sandbox::shell(agent, "uname -r"), engine_->info().kernel + "\n");
    EXPECT_EQ(Sandbox::shell(agent, "hostname"), sandbox.id + "\n");
    EXPECT_EQ(engine_->info().accelerator, "tcg");
    EXPECT_TRUE(engine_->info().emulated);
}

// Whoever breaks out of the guest is there.
TEST_F(MicrovmTest, QemuHasNothingThatItDoesNotNeed) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    const pid_t pid = sandbox.process().pid;
    const std::string status = status_of(pid);
    const std::string user = std::to_string(sandbox.user());
    EXPECT_TRUE(status.contains("\nUid:\t" + user + "\t" + user + "\t" + user + "\t" + user)) << status;
    EXPECT_TRUE(status.contains("\nGroups:\t \n") || status.contains("\nGroups:\t\n")) << status;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
        EXPECT_TRUE(status.contains(std::string{"\n"} + set + ":\t0000000000000000")) << status;
    }
    EXPECT_TRUE(status.contains("\nNoNewPrivs:\t1"));
    EXPECT_TRUE(status.contains("\nSeccomp:\t2"));
    EXPECT_EQ(engine::pid_inside(pid), 1U);
    const std::string root = "/proc/" + std::to_string(pid) + "/root";
    EXPECT_EQ(names_in(root), (std::set<std::string>{"dev", "etc", "lib", "lib64", "proc", "usr", "vm"}));
    EXPECT_EQ(names_in(root + "/vm"), (std::set<std::string>{"base", "disk", "initrd", "kernel"}));
    EXPECT_EQ(names_in(root + "/dev"), (std::set<std::string>{"null", "urandom", "zero"}));
}

TEST_F(MicrovmTest, OneMachineIsBootedForAllSandboxesOfAShape) {
    Sandbox first{*world_};
    first.start(*engine_);
    const auto stamp = [&] {
        std::set<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator{world_->places().warm()}) {
            all.insert(entry.path().string() +
                       std::to_string(entry.last_write_time().time_since_epoch().count()));
        }
        return all;
    };
    const std::set<std::string> before = stamp();
    Sandbox second{*world_};
    second.start(*engine_);
    EXPECT_EQ(stamp(), before);
    // A keeper that was restarted has it, too.
    Microvm successor{{.places = world_->places(), .accelerator = Accelerator::tcg}};
    Sandbox third{*world_};
    third.start(successor);
    EXPECT_EQ(stamp(), before);
    EXPECT_EQ(third.shell("echo here"), "here\n");
}

TEST_F(MicrovmTest, ChildrenShareTheMomentOfTheirCheckpointAndNothingAfterIt) {
    Sandbox parent{*world_};
    parent.start(*engine_);
    EXPECT_EQ(parent.shell("echo token >/dev/shm/memory; echo token >/root/disk"), "");
    const std::string saved = parent.save(*engine_, Microvm::Afterwards::goes_on);
    parent.new_life();
    EXPECT_EQ(parent.shell("echo after >/root/disk; cat /dev/shm/memory"), "token\n");

    std::set<std::string> random;
    std::set<std::string> names;
    for (int n = 0; n < 3; ++n) {
        Sandbox child{*world_};
        child.go_on(*engine_, saved);
        EXPECT_EQ(child.shell("cat /dev/shm/memory /root/disk"), "token\ntoken\n");
        random.insert(child.shell("head -c 16 /dev/urandom | od -An -tx1"));
        names.insert(child.shell("hostname; cat /etc/machine-id"));
        child.shell("echo child >/root/disk; sync");
    }
    EXPECT_EQ(random.size(), 3U);
    EXPECT_EQ(names.size(), 3U);
    EXPECT_EQ(parent.shell("cat /root/disk"), "after\n");
}

TEST_F(MicrovmTest, ASandboxThatEndsWithItsCheckpointGoesOnLater) {
    Sandbox before{*world_};
    before.start(*engine_);
    before.shell("echo 7 >/dev/shm/count");
    const std::string saved = before.save(*engine_, Microvm::Afterwards::ends);
    EXPECT_TRUE(engine::has_ended(before.process()));
    Sandbox after{*world_};
    after.go_on(*engine_, saved);
    EXPECT_EQ(after.shell("cat /dev/shm/count"), "7\n");
    // And again: what was restored is saved like what was booted.
    const std::string again = after.save(*engine_, Microvm::Afterwards::ends);
    Sandbox last{*world_};
    last.go_on(*engine_, again);
    EXPECT_EQ(last.shell("cat /dev/shm/count"), "7\n");
}

TEST_F(MicrovmTest, MemoryOfAnotherMachineIsRefusedByName) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    const std::string saved = sandbox.save(*engine_, Microvm::Afterwards::ends);
    std::ifstream file{saved + "/memory/manifest.json"};
    std::string manifest{std::istreambuf_iterator<char>{file}, {}};
    const std::size_t at = manifest.find("\"qemu\":\"");
    manifest.insert(at + 8, "older ");
    std::ofstream{saved + "/memory/manifest.json"} << manifest;
    Sandbox child{*world_};
    try {
        child.go_on(*engine_, saved);
        FAIL() << "it was taken";
    } catch (const Error& error) {
        EXPECT_TRUE(error.message().contains("saved with QEMU older ")) << error.message();
    }
}

TEST_F(MicrovmTest, MemoryThatWasCutIsRefused) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    const std::string saved = sandbox.save(*engine_, Microvm::Afterwards::ends);
    std::filesystem::resize_file(saved + "/memory/memory", 4096);
    Sandbox child{*world_};
    EXPECT_THROW(child.go_on(*engine_, saved), Error);
}

TEST_F(MicrovmTest, NothingIsRememberedOfAMachineThatWasKilled) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    EXPECT_EQ(engine_->remembered(), std::vector<std::string>{sandbox.id});
    sandbox.end();
    engine_->forget(sandbox.id);
    EXPECT_TRUE(engine_->remembered().empty());
}

TEST_F(MicrovmTest, AStartThatIsGivenUpLeavesNoProcess) {
    Sandbox warm{*world_};
    warm.start(*engine_);
    Sandbox sandbox{*world_};
    std::unique_ptr<engine::Work<engine::Process>> work = sandbox.begin(*engine_);
    // In the middle: QEMU is there.
    while (!sandbox.has_processes() && work->fd() >= 0 && !work->advance()) ::usleep(500);
    work.reset();
    for (int wait = 0; sandbox.has_processes() && wait < 5000; ++wait) ::usleep(1000);
    EXPECT_FALSE(sandbox.has_processes());
    engine_->forget(sandbox.id);
    EXPECT_EQ(engine_->remembered(), std::vector<std::string>{warm.id});
}

TEST_F(MicrovmTest, AMachineGoesOnWhenItsCheckpointIsGivenUpOrFails) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    const std::string into = world_->dir + "/saved/given-up";
    std::filesystem::create_directory(into);
    const Fd directory{::open(into.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    std::unique_ptr<engine::Work<engine::Nothing>> work =
        engine_->checkpoint(sandbox.running(), directory.get(), Microvm::Afterwards::ends, [] { ::pause(); });
    // It stands still when its files are whole.
    while (!std::filesystem::exists(into + "/manifest.json")) ::usleep(1000);
    work.reset();
    EXPECT_EQ(sandbox.shell("echo here"), "here\n");

    // The files are there already.
    work = engine_->checkpoint(sandbox.running(), directory.get(), Microvm::Afterwards::ends, [] {});
    EXPECT_THROW(outcome_of(*work), Error);
    EXPECT_EQ(sandbox.shell("echo here"), "here\n");
}

TEST_F(MicrovmTest, WhatTheMachineIsMadeOfCantBeChangedWhileItRuns) {
    Sandbox sandbox{*world_};
    sandbox.start(*engine_);
    wire::BoxLimits more = sandbox.limits;
    more.processes = 200;
    EXPECT_NO_THROW(engine_->set_limits(sandbox.running(), sandbox.limits, more));
    more.memory_bytes *= 2;
    EXPECT_THROW(engine_->set_limits(sandbox.running(), sandbox.limits, more), Error);
}

}  // namespace
}  // namespace oyat::microvm
