#include "agent/renewal.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::code_of;
using testing::Heard;
using testing::RunningAgent;
using testing::TestHost;

const std::string kId = "0123456789abcdef0123456789abcdef";

// Names and files of its own; neither the clock nor the random numbers of the machine are its to change.
void become_a_sandbox() {
    ::unshare(CLONE_NEWUTS | CLONE_NEWNS);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    for (const char* directory : {"/etc", "/run"}) ::mount("tmpfs", directory, "tmpfs", 0, "mode=755");
    for (const unsigned long capability : {CAP_SYS_TIME, CAP_SYS_ADMIN}) {
        ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    // So that the exec gives no more than the bounding set, whatever the parent had.
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

class Renewal : public ::testing::Test {
protected:
    wire::Status renew(wire::Renew what) {
        wire::Request request;
        request.renew = std::move(what);
        Heard& heard = host.ask(request);
        if (heard.end->code == 0) done = *wire::decode<wire::Renewed>(heard.events.at(0));
        return *heard.end;
    }

    RunningAgent agent{RunningAgent::Cgroup::none, {.in_child = become_a_sandbox, .in_parent = {}}};
    TestHost host{agent};
    wire::Renewed done;
};

TEST_F(Renewal, RefusesWhatIsMalformedAndChangesNothing) {
    EXPECT_EQ(renew({.entropy = "short"}).code, code_of(Errc::invalid_argument));
    EXPECT_EQ(renew({.machine_id = "0123"}).code, code_of(Errc::invalid_argument));
    EXPECT_EQ(renew({.machine_id = std::string(32, 'G')}).code, code_of(Errc::invalid_argument));
    for (const char* name : {"a b", "a/b", "a\nb"}) {
        EXPECT_EQ(renew({.host_name = name, .machine_id = kId}).code, code_of(Errc::invalid_argument))
            << name;
    }
    EXPECT_EQ(host.shell("cat /etc/machine-id").exited()->exit_code, 1);
}

TEST_F(Renewal, LeavesAloneWhatItSharesWithTheMachine) {
    EXPECT_EQ(renew({.entropy = std::string(64, 'x'), .wall_ns = 1'000'000'000}).code, 0u);
    EXPECT_FALSE(done.reseeded);
    EXPECT_FALSE(done.clock_set);
    EXPECT_FALSE(done.host_named) << "nobody asked";
    EXPECT_GT(std::stol(host.shell("date +%s").out()), 1'700'000'000);
}

TEST_F(Renewal, WritesItsNamesAndGeneration) {
    EXPECT_EQ(renew({.machine_id = kId, .generation = 4712}).code, 0u);
    EXPECT_EQ(done.generation, 4712u);
    EXPECT_EQ(host.shell("cat /etc/machine-id /run/oyat/generation").out(), kId + "\n4712\n");
    EXPECT_EQ(TestHost{agent}.hello().generation, 4712u);
}

// Its own kernel's or not: the name is, here.
TEST(RenewalOfNames, ReachesTheKernelAndTheFiles) {
    const auto surroundings = [] {
        ::unshare(CLONE_NEWUTS | CLONE_NEWNS);
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        ::mount("tmpfs", "/etc", "tmpfs", 0, "mode=755");
    };
    RunningAgent agent{RunningAgent::Cgroup::none, {.in_child = surroundings, .in_parent = {}}};
    TestHost host{agent};
    host.shell("hostname before; echo 127.0.1.1 before >/etc/hosts");
    wire::Request request;
    request.renew = wire::Renew{.host_name = "after"};
    EXPECT_TRUE(wire::decode<wire::Renewed>(host.ask(request).events.at(0))->host_named);
    EXPECT_EQ(host.shell("hostname; cat /etc/hostname /etc/hosts").out(), "after\nafter\n127.0.1.1 after\n");
}

TEST_F(Renewal, FollowsNoLinkThatSomebodyPutInThePlaceOfAFile) {
    host.shell("echo kept >/etc/kept; ln -s kept /etc/machine-id");
    EXPECT_EQ(renew({.machine_id = kId}).code, 0u);
    EXPECT_EQ(host.shell("cat /etc/kept").out(), "kept\n");
}

}  // namespace
}  // namespace oyat::agent
