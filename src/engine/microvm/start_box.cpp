#include "engine/microvm/start_box.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "base/throwing.hpp"
#include "engine/common/agent_line.hpp"
#include "engine/microvm/box_files.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/guest_files.hpp"
#include "engine/microvm/memory_file.hpp"
#include "engine/microvm/saved_machine.hpp"
#include "engine/microvm/unix_socket.hpp"
#include "engine/microvm/vm.hpp"
#include "engine/microvm/warm_machines.hpp"
#include "layers/copy_file.hpp"

namespace oyat::microvm {
namespace {

constexpr Millis kAgentPatience{10'000};

std::string disk_in(int box) {
    return "/proc/self/fd/" + std::to_string(box) + "/" + kDiskName;
}

Site site_of(const Places& places, const engine::Parts& parts, const StartDescriptors& descriptors) {
    return {.run = places.box(parts.id),
            .disk = disk_in(parts.box),
            .agent = parts.listener,
            .netns = parts.network->fd(),
            .tap = descriptors.tap,
            .user = parts.range.base,
            .group = parts.group,
            .id = std::string{parts.id},
            .generation = parts.generation};
}

std::unique_ptr<Qemu> restore_from(const Places& places, const Machine& machine, const Site& site, int memory,
                                   int directory) {
    fill_memory_file(memory, memory_path(directory), machine.memory_mib << 20);
    const Fd state = open_file(state_path(directory), O_RDONLY);
    return restore(places, machine, site, memory, state.get());
}

// A copy of a machine becomes one of its own, before any program in it goes on.
pid_t renewed(const std::unique_ptr<Qemu>& qemu, const engine::Parts& parts, const Site& site) {
    engine::AgentLine agent{connect_to(path_of_socket(parts.listener)), kAgentPatience,
                            [&] { check_alive(*qemu); }};
    agent.greet();
    engine::renew(agent, parts.generation, site.id);
    return qemu->let_go();
}

// A machine goes on with the kernel and the disk that it had, where they are still here: the agent may have
// been upgraded since, and the operator's layer above the template changed.
Machine checked(const Places& places, Machine here, const Machine& saved) {
    if (exists(base_file(places, saved.base))) here.base = saved.base;
    if (exists(initrd_file(places, saved.guest))) here.guest = saved.guest;
    or_throw(fits(saved, here));
    return saved;
}

pid_t go_on(const Places& places, const Machine& here, const engine::Parts& parts,
            const StartDescriptors& descriptors) {
    const Machine machine = checked(places, here, read_manifest(parts.memory));
    make_base(places, machine.base, parts.lowers);
    write_box_files(places, parts.id, machine, path_of_socket(parts.listener));
    const Site site = site_of(places, parts, descriptors);
    return renewed(restore_from(places, machine, site, descriptors.memory, parts.memory), parts, site);
}

// No machine that was saved has this disk: it is booted.
pid_t start_on_its_disk(const Places& places, const Machine& machine, const engine::Parts& parts,
                        const StartDescriptors& descriptors) {
    make_base(places, machine.base, parts.lowers);
    write_box_files(places, parts.id, machine, path_of_socket(parts.listener));
    return boot(places, machine, site_of(places, parts, descriptors))->let_go();
}

pid_t start_anew(const Places& places, const Machine& here, const engine::Parts& parts,
                 const StartDescriptors& descriptors) {
    make_base(places, here.base, parts.lowers);
    make_warm(places, here);
    const std::string warm = warm_directory(places, here);
    const Fd directory = open_file(warm, O_PATH | O_DIRECTORY);
    const Machine machine = read_manifest(directory.get());
    write_box_files(places, parts.id, machine, path_of_socket(parts.listener));
    layers::copy_file(open_file(warm_disk(warm), O_RDONLY).get(),
                      open_file(disk_in(parts.box), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW).get());
    const Site site = site_of(places, parts, descriptors);
    return renewed(restore_from(places, machine, site, descriptors.memory, directory.get()), parts, site);
}

}  // namespace

pid_t start_box(const Places& places, const Machine& machine, const engine::Parts& parts,
                const StartDescriptors& descriptors) {
    if (descriptors.tap < 0) {
        throw Error{Errc::internal, Fault::engine, "a machine needs a network namespace with a tap"};
    }
    if (parts.memory >= 0) return go_on(places, machine, parts, descriptors);
    if (exists(disk_in(parts.box))) return start_on_its_disk(places, machine, parts, descriptors);
    return start_anew(places, machine, parts, descriptors);
}

Fd survey_lock(const Places& places) {
    return hold_lock(places.state + "/survey.lock");
}

Survey survey_after_wait(const Places& places, Accelerator wanted) {
    // Its taker has most likely locked before us; if not, we take the first half ourselves.
    const Fd lock = survey_lock(places);
    if (std::optional<Survey> survey = kept_survey(places, wanted)) return *std::move(survey);
    return look_around(places);
}

}  // namespace oyat::microvm
