#include "engine/microvm/warm_machines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/id.hpp"
#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/saved_machine.hpp"
#include "engine/microvm/unix_socket.hpp"
#include "engine/microvm/vm.hpp"
#include "layers/id_range.hpp"
#include "netns/netns.hpp"

namespace oyat::microvm {
namespace {

constexpr Millis kSavePatience{20'000};
// Not in any sandbox's range.
constexpr uid_t kBootUser = layers::IdRange::kFirst - 1;

bool is_usable(const std::string& directory, const Machine& machine) {
    if (!exists(directory)) return false;
    try {
        const Fd dir = open_file(directory, O_PATH | O_DIRECTORY);
        return fits(read_manifest(dir.get()), machine).has_value();
    } catch (const Error&) {
        return false;  // cut short by a crash
    }
}

// A directory for a machine that only helps along.
class BootDirectory {
public:
    explicit BootDirectory(const Places& places) : path{places.run + "/boot-" + random_hex(4)} {
        sys(::mkdir(path.c_str(), 0700), "make " + path);
    }
    BootDirectory(const BootDirectory&) = delete;
    BootDirectory& operator=(const BootDirectory&) = delete;
    ~BootDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    const std::string path;
};

// The tap leads nowhere, but the machine must have the device that its copies will have.
std::unique_ptr<Qemu> boot_in(const Places& places, const Machine& machine, const std::string& run,
                              const std::string& disk) {
    const Fd agent = listen_at(run + "/agent");
    netns::Netns network = netns::Netns::make(netns::Shape::tap);
    const Fd tap = network.tap();
    return boot(places, machine,
                {.run = run,
                 .disk = disk,
                 .agent = agent.get(),
                 .netns = network.fd(),
                 .tap = tap.get(),
                 .user = kBootUser,
                 .life = Start::Life::with_us,
                 .id = "oyat",
                 .generation = 0});
}

void boot_and_save(const Places& places, const Machine& machine, const std::string& into) {
    const BootDirectory run{places};
    std::filesystem::remove_all(into);
    sys(::mkdir(into.c_str(), 0700), "make " + into);
    format_disk(warm_disk(into), machine.disk_bytes, machine.disk_inodes);
    const std::unique_ptr<Qemu> qemu = boot_in(places, machine, run.path, warm_disk(into));
    const Fd directory = open_file(into, O_PATH | O_DIRECTORY);
    Qmp control{control_socket(run.path), kSavePatience};
    save_machine(control, machine, directory.get(), [] {});
}

}  // namespace

std::string warm_directory(const Places& places, const Machine& machine) {
    Machine shape = machine;
    shape.tsc_khz = 0;
    shape.serial = false;
    return places.warm() + "/" + machine.base + "-" + sha256_hex(to_json(shape)).substr(0, 16);
}

std::string warm_disk(const std::string& directory) {
    return directory + "/" + kDiskName;
}

void make_warm(const Places& places, const Machine& machine) {
    const std::string directory = warm_directory(places, machine);
    if (is_usable(directory, machine)) return;
    const Fd lock = hold_lock(directory + ".lock");
    if (is_usable(directory, machine)) return;
    const std::string draft = directory + ".new";
    Machine made = machine;
    try {
        boot_and_save(places, made, draft);
    } catch (const Error& first) {
        made.serial = true;
        in(first.message() + "; and again", [&] { boot_and_save(places, made, draft); });
    }
    const Fd saved = open_file(draft, O_RDONLY | O_DIRECTORY);
    sync_saved(saved.get());
    sys(::fsync(open_file(warm_disk(draft), O_RDONLY).get()), "sync its disk");
    sys(::fsync(saved.get()), "sync " + draft);
    std::filesystem::remove_all(directory);
    sys(::rename(draft.c_str(), directory.c_str()), "put " + directory + " in place");
}

void remove_outdated_warm(const Places& places, std::string_view qemu, std::string_view guest) {
    std::vector<std::filesystem::path> outdated;
    for (const auto& entry : std::filesystem::directory_iterator{places.warm()}) {
        if (!entry.is_directory()) continue;
        try {
            const Machine machine = read_manifest(open_file(entry.path(), O_PATH | O_DIRECTORY).get());
            if (machine.qemu == qemu && machine.guest == guest) continue;
        } catch (const Error&) {
            // It was cut short.
        }
        outdated.push_back(entry.path());
    }
    for (const std::filesystem::path& path : outdated) {
        std::filesystem::remove_all(path);
        std::filesystem::remove(path.string() + ".lock");
    }
}

void try_boot(const Places& places, const Machine& machine) {
    const BootDirectory run{places};
    const std::string disk = run.path + "/" + kDiskName;
    format_disk(disk, machine.disk_bytes, machine.disk_inodes);
    static_cast<void>(boot_in(places, machine, run.path, disk));
}

}  // namespace oyat::microvm
