#include "engine/microvm/initrd.hpp"

#include <vector>

#include "engine/microvm/cpio.hpp"

namespace oyat::microvm {

Result<std::string> make_initrd(std::string_view agent, const Modules& modules) {
    const Result<std::vector<std::string>> order = load_order(modules);
    if (!order) return std::unexpected{order.error()};
    std::string lines;
    Cpio archive;
    archive.add("init", Cpio::Mode::program, agent);
    archive.add("m", Cpio::Mode::directory, {});
    for (const std::string& name : *order) {
        archive.add("m/" + name + ".ko", Cpio::Mode::file, modules.at(name));
        lines += name + ".ko\n";
    }
    archive.add("m/order", Cpio::Mode::file, lines);
    return archive.finish();
}

}  // namespace oyat::microvm
