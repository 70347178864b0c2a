#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/group.hpp"
#include "engine/common/process.hpp"
#include "engine/microvm/cage.hpp"

namespace oyat::microvm {

// How QEMU is started: it is the wall between a guest and the host, so it gets nothing that it does not need.
struct Start {
    std::vector<std::string> command;
    std::vector<int> descriptors;  // open in QEMU under numbers from kFirstDescriptor on, in this order
    std::vector<ShownFile> files;
    std::string cage;  // an empty directory
    uid_t user = 0;
    int netns = -1;
    const cgroup::Group* group = nullptr;  // null: stays in the caller's
    bool with_kvm = false;
    // `with_us`: dies with the process that started it, as one must that only helps along.
    enum class Life { its_own, with_us } life = Life::its_own;
};
inline constexpr const char* kProgram = "/usr/bin/qemu-system-x86_64";
inline constexpr int kFirstDescriptor = 10;

// A QEMU with a user of its own, without capabilities, in new mount, pid, ipc and uts namespaces and the
// sandbox's network namespace (a restarted keeper finds that by it), with its own filter of system calls.
class Qemu {
public:
    explicit Qemu(const Start& start);
    Qemu(const Qemu&) = delete;
    Qemu& operator=(const Qemu&) = delete;
    // Ends it, unless let_go() was called.
    ~Qemu();

    [[nodiscard]] const engine::Process& process() const noexcept { return process_; }
    // What it complained about so far, cut short. For the text of an error.
    [[nodiscard]] std::string complaint() const;
    // It goes on without us.
    pid_t let_go() noexcept;

private:
    engine::Process process_;
    Fd complaints_;
    bool held_ = true;
};

}  // namespace oyat::microvm
