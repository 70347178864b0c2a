#include "engine/microvm/vm.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "base/throwing.hpp"
#include "engine/common/agent_line.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/guest_files.hpp"
#include "engine/microvm/qmp.hpp"
#include "engine/microvm/unix_socket.hpp"

namespace oyat::microvm {
namespace {

constexpr Millis kRestorePatience{10'000};
constexpr std::size_t kMostOfAConsole = 400;
constexpr int kControl = kFirstDescriptor;
constexpr int kAgent = kFirstDescriptor + 1;
constexpr int kTap = kFirstDescriptor + 2;
constexpr int kMemory = kFirstDescriptor + 3;
constexpr int kConsole = kMemory;  // a boot has the one, a restore the other

std::string console_file(const Site& site) {
    return site.run + "/console";
}

std::unique_ptr<Qemu> start(const Places& places, const Machine& machine, const Site& site, int memory) {
    const Fd control = listen_at(control_socket(site.run));
    sys(::chown(site.disk.c_str(), site.user, site.user), "give the disk to its user");
    Start start{.command = {},
                .descriptors = {control.get(), site.agent, site.tap},
                .files = {},
                .cage = places.cage(),
                .user = site.user,
                .netns = site.netns,
                .group = site.group,
                .with_kvm = machine.accelerator == "kvm",
                .life = site.life};
    start.files.push_back(show_file(kernel_file(places, machine.guest), "kernel"));
    start.files.push_back(show_file(initrd_file(places, machine.guest), "initrd"));
    start.files.push_back(show_file(base_file(places, machine.base), "base"));
    start.files.push_back(show_file(site.disk, "disk"));
    Wiring wiring{.kernel = "/vm/kernel",
                  .initrd = "/vm/initrd",
                  .base = "/vm/base",
                  .disk = "/vm/disk",
                  .memory = "",
                  .serial = "",
                  .control = kControl,
                  .agent = kAgent,
                  .tap = kTap,
                  .generation = site.generation,
                  .id = site.id};
    Fd console;
    if (memory >= 0) {
        start.descriptors.push_back(memory);
        wiring.memory = "/proc/self/fd/" + std::to_string(kMemory);
    } else if (machine.serial) {
        console = open_file(console_file(site), O_WRONLY | O_CREAT | O_TRUNC);
        sys(::fchown(console.get(), site.user, site.user), "give the console to its user");
        start.descriptors.push_back(console.get());
        wiring.serial = "/proc/self/fd/" + std::to_string(kConsole);
    }
    start.command = command_line(machine, wiring);
    return std::make_unique<Qemu>(start);
}

std::string end_of_console(const Site& site) {
    if (!exists(console_file(site))) return {};
    std::string text = read_whole(console_file(site));
    // The reason comes first, then pages of registers.
    const std::size_t panic = text.rfind("Kernel panic");
    const std::size_t tail = text.size() - std::min(text.size(), kMostOfAConsole);
    text = text.substr(panic == std::string::npos ? tail : panic, kMostOfAConsole);
    // The guest's words, on their way to a log.
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c > '~'; }, ' ');
    return "; its console ends with: " + text;
}

}  // namespace

std::string control_socket(const std::string& run) {
    return run + "/qmp";
}

Millis boot_patience(const Machine& machine) {
    return machine.accelerator == "kvm" ? Millis{5000} : Millis{15'000};
}

void check_alive(const Qemu& qemu) {
    if (!engine::has_ended(qemu.process())) return;
    throw Error{Errc::unavailable, Fault::engine, "QEMU ended: " + qemu.complaint()};
}

std::unique_ptr<Qemu> boot(const Places& places, const Machine& machine, const Site& site) {
    std::unique_ptr<Qemu> qemu = start(places, machine, site, -1);
    try {
        engine::AgentLine agent{connect_to(path_of_socket(site.agent)), boot_patience(machine),
                                [&] { check_alive(*qemu); }};
        agent.greet();
    } catch (const Error& error) {
        throw Error{error.code(), error.fault(), "boot: " + error.message() + end_of_console(site)};
    }
    return qemu;
}

std::unique_ptr<Qemu> restore(const Places& places, const Machine& machine, const Site& site, int memory,
                              int state) {
    std::unique_ptr<Qemu> qemu = start(places, machine, site, memory);
    try {
        Qmp control{control_socket(site.run), kRestorePatience};
        const boost::json::object events{{"capability", "events"}, {"state", true}};
        control.ask("migrate-set-capabilities", {{"capabilities", boost::json::array{events}}});
        control.ask("getfd", {{"fdname", "state"}}, state);
        control.ask("migrate-incoming", {{"uri", "fd:state"}});
        control.wait_for_migration();
        control.ask("cont");
    } catch (const Error& error) {
        throw Error{error.code(), error.fault(), "restore: " + error.message() + " " + qemu->complaint()};
    }
    return qemu;
}

}  // namespace oyat::microvm
