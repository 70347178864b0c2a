#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/survey.hpp"
#include "engine/microvm/warm_machines.hpp"

namespace oyat::microvm {
namespace {

constexpr std::uint64_t kTrialMemory = std::uint64_t{256} << 20;
constexpr std::uint64_t kTrialDisk = std::uint64_t{16} << 20;

// A machine of an empty template.
void boot_with_kvm(const Places& places, const Survey& survey) {
    const std::string tree = places.run + "/trial-" + random_hex(4);
    sys(::mkdir(tree.c_str(), 0700), "make " + tree);
    const Defer remove_tree{[&] { std::filesystem::remove_all(tree); }};
    const Fd root = open_file(tree, O_PATH | O_DIRECTORY);
    Machine machine{.qemu = survey.qemu,
                    .accelerator = "kvm",
                    .guest = survey.guest,
                    .base = "trial",
                    .tsc_khz = survey.tsc_khz};
    set_size(machine, {.memory_bytes = kTrialMemory, .cpu_millis = 1000, .disk_bytes = kTrialDisk});
    make_base(places, machine.base, std::array{root.get()});
    try_boot(places, machine);
}

// Why, or "". Whether KVM works is the same for all servers of the machine, until it is started anew.
std::string kvm_fails(const Places& places, const Survey& survey) {
    const std::string verdict =
        places.shared + "/kvm-" + sha256_hex(survey.qemu + " " + survey.release).substr(0, 16);
    const Fd lock = hold_lock(verdict + ".lock");
    if (exists(verdict)) return read_whole(verdict);
    std::string reason;
    try {
        boot_with_kvm(places, survey);
    } catch (const Error& error) {
        reason = "a machine did not start with KVM: " + error.message();
    }
    write_whole(verdict, reason);
    return reason;
}

}  // namespace

void choose_accelerator(const Places& places, Accelerator wanted, Survey& survey) {
    survey.accelerator = "tcg";
    if (wanted == Accelerator::tcg) {
        survey.why_not_kvm = "switched off";
    } else if (!exists("/dev/kvm")) {
        survey.why_not_kvm = "there is no /dev/kvm";
    } else {
        survey.why_not_kvm = kvm_fails(places, survey);
        if (survey.why_not_kvm.empty()) survey.accelerator = "kvm";
    }
}

}  // namespace oyat::microvm
