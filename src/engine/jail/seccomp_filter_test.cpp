#include "engine/jail/seccomp_filter.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "engine/jail/syscall_table.hpp"

namespace oyat::jail {
namespace {

// What the kernel would do, for the instructions that the builder makes. Anything else stops the test.
std::uint32_t evaluate(const std::vector<sock_filter>& program, const seccomp_data& data) {
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        const sock_filter& step = program[at];
        switch (step.code) {
            case BPF_LD | BPF_W | BPF_ABS:
                std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, sizeof accumulator);
                break;
            case BPF_JMP | BPF_JEQ | BPF_K: at += accumulator == step.k ? step.jt : step.jf; break;
            case BPF_JMP | BPF_JGE | BPF_K: at += accumulator >= step.k ? step.jt : step.jf; break;
            case BPF_JMP | BPF_JGT | BPF_K: at += accumulator > step.k ? step.jt : step.jf; break;
            case BPF_JMP | BPF_JSET | BPF_K: at += (accumulator & step.k) != 0 ? step.jt : step.jf; break;
            case BPF_RET | BPF_K: return step.k;
            default: ADD_FAILURE() << "instruction " << at << " has code " << step.code; return 0;
        }
    }
    ADD_FAILURE() << "ran off the end of the program";
    return 0;
}

// 0 when the call is let through, else the errno that it gets.
int verdict(std::uint32_t number, std::initializer_list<std::uint64_t> arguments = {},
            std::uint32_t architecture = AUDIT_ARCH_X86_64, IoUring io_uring = IoUring::absent) {
    seccomp_data data{};
    data.nr = static_cast<int>(number);
    data.arch = architecture;
    std::ranges::copy(arguments, data.args);
    const std::uint32_t action = evaluate(build_seccomp_filter(io_uring), data);
    if (action == SECCOMP_RET_ALLOW) return 0;
    EXPECT_EQ(action & SECCOMP_RET_ACTION_FULL, static_cast<std::uint32_t>(SECCOMP_RET_ERRNO));
    return static_cast<int>(action & SECCOMP_RET_DATA);
}

TEST(SeccompFilter, RefusesEveryLineOfTheTable) {
    for (const DeniedCall& call : denied_calls()) {
        EXPECT_EQ(verdict(call.number), call.refusal == Refusal::eperm ? EPERM : ENOSYS) << call.name;
    }
}

TEST(SeccompFilter, LetsEveryOtherKnownCallThrough) {
    for (std::uint32_t number = 0; number <= kNewestKnownCall; ++number) {
        const auto is_it = [&](const DeniedCall& call) { return call.number == number; };
        if (std::ranges::any_of(denied_calls(), is_it)) continue;
        if (number == SYS_socket || number == SYS_socketpair) continue;  // family 0 is no family
        EXPECT_EQ(verdict(number), 0) << number;
    }
}

TEST(SeccompFilter, AnswersEnosysToCallsThatAreNewerThanTheTable) {
    for (const std::uint32_t number : {kNewestKnownCall + 1, 500U, 1'000'000U, 0xFFFF'FFFFU}) {
        EXPECT_EQ(verdict(number), ENOSYS) << number;
    }
}

TEST(SeccompFilter, NeverLetsAnX32OrI386CallRun) {
    constexpr std::uint32_t x32_bit = 0x4000'0000;
    for (std::uint32_t number = 0; number <= kNewestKnownCall; ++number) {
        ASSERT_EQ(verdict(number | x32_bit), ENOSYS) << number;
        ASSERT_EQ(verdict(number, {}, AUDIT_ARCH_I386), ENOSYS) << number;
    }
}

TEST(SeccompFilter, OpensSocketsOfTheListedFamiliesOnly) {
    for (std::uint64_t family = 0; family < 64; ++family) {
        const bool listed = std::ranges::count(allowed_socket_families(), family) == 1;
        for (const std::uint32_t call : {SYS_socket, SYS_socketpair}) {
            EXPECT_EQ(verdict(call, {family, SOCK_STREAM, 0}), listed ? 0 : EAFNOSUPPORT) << family;
        }
    }
}

TEST(SeccompFilter, OpensNoNetlinkSocketButForRoutes) {
    for (std::uint64_t protocol = 0; protocol < 32; ++protocol) {
        EXPECT_EQ(verdict(SYS_socket, {AF_NETLINK, SOCK_RAW, protocol}), protocol == 0 ? 0 : EPROTONOSUPPORT)
            << protocol;
    }
}

TEST(SeccompFilter, IgnoresTheHalfOfAnArgumentThatTheKernelIgnores) {
    constexpr std::uint64_t high = 0xABCD'0000'0000'0000;
    EXPECT_EQ(verdict(SYS_socket, {high | AF_VSOCK, SOCK_STREAM, 0}), EAFNOSUPPORT);
    EXPECT_EQ(verdict(SYS_socket, {AF_NETLINK, SOCK_RAW, high | 12}), EPROTONOSUPPORT);
    EXPECT_EQ(verdict(SYS_ioctl, {0, high | TIOCSTI}), EPERM);
    EXPECT_EQ(verdict(SYS_clone, {high | CLONE_NEWUSER}), EPERM);
}

TEST(SeccompFilter, RefusesCloneWithAnyNamespaceFlag) {
    for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET}) {
        EXPECT_EQ(verdict(SYS_clone, {flag | SIGCHLD}), EPERM) << flag;
    }
    EXPECT_EQ(verdict(SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}), 0);
    EXPECT_EQ(verdict(SYS_clone, {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD}), 0);
}

TEST(SeccompFilter, RefusesToTypeIntoATerminal) {
    EXPECT_EQ(verdict(SYS_ioctl, {0, TIOCSTI}), EPERM);
    EXPECT_EQ(verdict(SYS_ioctl, {0, 0x541C}), EPERM);  // TIOCLINUX
    EXPECT_EQ(verdict(SYS_ioctl, {0, TIOCGWINSZ}), 0);
}

TEST(SeccompFilter, AttachesNoProgramsToSockets) {
    for (const std::uint64_t option :
         {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF}) {
        EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_SOCKET, option}), EPERM) << option;
        EXPECT_EQ(verdict(SYS_setsockopt, {3, IPPROTO_TCP, option}), 0) << option;
    }
    EXPECT_EQ(verdict(SYS_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}), 0);
}

TEST(SeccompFilter, OpensIoUringOnlyWhenAskedTo) {
    for (const std::uint32_t call : {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
        EXPECT_EQ(verdict(call), ENOSYS);
        EXPECT_EQ(verdict(call, {}, AUDIT_ARCH_X86_64, IoUring::allowed), 0);
    }
}

TEST(SeccompFilter, IsShortEnoughForOneByteJumps) {
    EXPECT_LT(build_seccomp_filter().size(), 200U);
}

}  // namespace
}  // namespace oyat::jail
