#include "engine/microvm/guest_files.hpp"

#include <unistd.h>

#include <filesystem>

#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/initrd.hpp"
#include "engine/microvm/kernel_image.hpp"

namespace oyat::microvm {
namespace {

Modules read_modules(const std::string& dir) {
    Modules modules;
    if (!exists(dir)) return modules;  // all of it may be built in
    for (const auto& entry : std::filesystem::directory_iterator{dir}) {
        const std::string name = module_name(entry.path().filename().string());
        if (!name.empty()) modules[name] = read_whole(entry.path());
    }
    return modules;
}

}  // namespace

std::string kernel_file(const Places& places, const std::string& digest) {
    return places.guests() + "/" + digest + ".kernel";
}

std::string initrd_file(const Places& places, const std::string& digest) {
    return places.guests() + "/" + digest + ".initrd";
}

GuestFiles make_guest_files(const Places& places) {
    const std::string image = read_whole(places.kernel + "/vmlinuz");
    const std::string initrd =
        or_throw(make_initrd(read_whole(places.agent), read_modules(places.kernel + "/modules")));
    Sha256 hash;
    hash.update(image);
    hash.update(initrd);
    GuestFiles files{.digest = to_hex(hash.finish()).substr(0, 32),
                     .release = or_throw(kernel_release(image))};
    // The initrd last: where it is, the kernel is.
    if (!exists(initrd_file(places, files.digest))) {
        // Fifty megabytes that are the same from one agent to the next.
        const std::string unpacked = places.guests() + "/" + sha256_hex(image).substr(0, 32) + ".vmlinux";
        if (!exists(unpacked)) write_whole(unpacked, unpack_kernel(image).value_or(image));
        const std::string kernel = kernel_file(places, files.digest);
        ::unlink(kernel.c_str());
        sys(::link(unpacked.c_str(), kernel.c_str()), "link " + kernel);
        write_whole(initrd_file(places, files.digest), initrd);
    }
    return files;
}

}  // namespace oyat::microvm
