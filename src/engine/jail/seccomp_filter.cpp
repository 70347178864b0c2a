#include "engine/jail/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <utility>

#include "base/assert.hpp"
#include "engine/jail/syscall_table.hpp"

namespace oyat::jail {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
#error "the system-call table has not been checked for this architecture"
#endif

// What happens to a call once its number is known. The checks look at arguments.
enum class Target : std::uint8_t {
    allow,
    eperm,
    enosys,
    no_family,
    no_protocol,
    check_clone,
    check_socket,
    check_ioctl,
    check_option
};

// Jumps name a target; they become offsets when the whole program is known.
class Program {
public:
    void load(std::uint32_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }

    // Both ways of a comparison; a missing target means "the next instruction".
    void jump(std::uint16_t how, std::uint32_t value, std::size_t if_true, std::size_t if_false) {
        jumps_.push_back({code_.size(), if_true, if_false});
        code_.push_back(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | how | BPF_K), value, 0, 0));
    }
    void finish_with(std::uint32_t action) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }

    [[nodiscard]] std::size_t new_label() {
        labels_.push_back(0);
        return labels_.size() - 1;
    }
    void place(std::size_t label) { labels_[label] = code_.size(); }

    [[nodiscard]] std::vector<sock_filter> resolve() && {
        for (const Jump& jump : jumps_) {
            code_[jump.at].jt = distance(jump.at, jump.if_true);
            code_[jump.at].jf = distance(jump.at, jump.if_false);
        }
        return std::move(code_);
    }

private:
    struct Jump {
        std::size_t at, if_true, if_false;
    };

    [[nodiscard]] std::uint8_t distance(std::size_t from, std::size_t label) const {
        const std::size_t steps = labels_[label] - from - 1;
        OYAT_ASSERT(labels_[label] > from && steps <= 255);  // BPF jumps forward only, one byte far
        return static_cast<std::uint8_t>(steps);
    }

    std::vector<sock_filter> code_;
    std::vector<Jump> jumps_;
    std::vector<std::size_t> labels_;
};

using Calls = std::vector<std::pair<std::uint32_t, Target>>;

Calls sorted_calls(IoUring io_uring) {
    std::map<std::uint32_t, Target> calls;
    for (const DeniedCall& call : denied_calls()) {
        calls[call.number] = call.refusal == Refusal::eperm ? Target::eperm : Target::enosys;
    }
    if (io_uring == IoUring::allowed) {
        for (const std::uint32_t number : {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
            calls.erase(number);
        }
    }
    calls[SYS_clone] = Target::check_clone;
    calls[SYS_socket] = Target::check_socket;
    calls[SYS_socketpair] = Target::check_socket;
    calls[SYS_ioctl] = Target::check_ioctl;
    calls[SYS_setsockopt] = Target::check_option;
    return {calls.begin(), calls.end()};
}

// The low half of argument `index`: all that the kernel itself looks at for the arguments judged here.
constexpr std::uint32_t argument(std::size_t index) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + (index * sizeof(std::uint64_t)));
}

constexpr std::uint32_t refuse_with(int error) {
    return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}

class Builder {
public:
    explicit Builder(const Calls& calls) : calls_{calls} {
        for (std::size_t& label : targets_) label = program_.new_label();
    }

    std::vector<sock_filter> build() && {
        check_architecture();
        search(0, calls_.size());
        check_clone();
        check_socket();
        check_ioctl();
        check_option();
        answers();
        return std::move(program_).resolve();
    }

private:
    [[nodiscard]] std::size_t target(Target t) const { return targets_[static_cast<std::size_t>(t)]; }
    void place(Target t) { program_.place(target(t)); }

    // Jumps to `yes` when the comparison holds, else goes on with the next instruction.
    void branch(std::uint16_t how, std::uint32_t value, Target yes) {
        const std::size_t next = program_.new_label();
        program_.jump(how, value, target(yes), next);
        program_.place(next);
    }

    // A 32-bit program would mean other calls by the same numbers; x32 numbers carry a bit far above the
    // newest.
    void check_architecture() {
        program_.load(offsetof(seccomp_data, arch));
        const std::size_t same = program_.new_label();
        program_.jump(BPF_JEQ, kArchitecture, same, target(Target::enosys));
        program_.place(same);
        program_.load(offsetof(seccomp_data, nr));
        branch(BPF_JGT, kNewestKnownCall, Target::enosys);
    }

    void search(std::size_t from, std::size_t to) {
        if (to - from == 1) {
            program_.jump(BPF_JEQ, calls_[from].first, target(calls_[from].second), target(Target::allow));
            return;
        }
        const std::size_t middle = from + ((to - from) / 2);
        const std::size_t upper = program_.new_label();
        const std::size_t lower = program_.new_label();
        program_.jump(BPF_JGE, calls_[middle].first, upper, lower);
        program_.place(lower);
        search(from, middle);
        program_.place(upper);
        search(middle, to);
    }

    void check_clone() {
        place(Target::check_clone);
        program_.load(argument(0));
        program_.jump(BPF_JSET, kNamespaceFlags, target(Target::eperm), target(Target::allow));
    }

    void check_socket() {
        place(Target::check_socket);
        program_.load(argument(0));
        for (const std::uint32_t family : allowed_socket_families()) {
            if (family != AF_NETLINK) branch(BPF_JEQ, family, Target::allow);
        }
        const std::size_t netlink = program_.new_label();
        program_.jump(BPF_JEQ, AF_NETLINK, netlink, target(Target::no_family));
        program_.place(netlink);
        program_.load(argument(2));
        // Not EPERM: sudo and su take that for a broken audit system, and this for none.
        program_.jump(BPF_JEQ, 0, target(Target::allow), target(Target::no_protocol));
    }

    void check_ioctl() {
        place(Target::check_ioctl);
        program_.load(argument(1));
        for (const std::uint32_t request : denied_ioctls()) branch(BPF_JEQ, request, Target::eperm);
        program_.finish_with(SECCOMP_RET_ALLOW);
    }

    void check_option() {
        place(Target::check_option);
        program_.load(argument(1));
        const std::size_t general = program_.new_label();
        program_.jump(BPF_JEQ, SOL_SOCKET, general, target(Target::allow));
        program_.place(general);
        program_.load(argument(2));
        for (const std::uint32_t option : denied_socket_options()) branch(BPF_JEQ, option, Target::eperm);
        program_.finish_with(SECCOMP_RET_ALLOW);
    }

    void answers() {
        place(Target::allow);
        program_.finish_with(SECCOMP_RET_ALLOW);
        place(Target::eperm);
        program_.finish_with(refuse_with(EPERM));
        place(Target::enosys);
        program_.finish_with(refuse_with(ENOSYS));
        place(Target::no_family);
        program_.finish_with(refuse_with(EAFNOSUPPORT));
        place(Target::no_protocol);
        program_.finish_with(refuse_with(EPROTONOSUPPORT));
    }

    const Calls& calls_;
    Program program_;
    std::array<std::size_t, 9> targets_{};
};

}  // namespace

std::vector<sock_filter> build_seccomp_filter(IoUring io_uring) {
    const Calls calls = sorted_calls(io_uring);
    return Builder{calls}.build();
}

}  // namespace oyat::jail
