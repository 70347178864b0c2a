#include "engine/microvm/box_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"

namespace oyat::microvm {
namespace {

std::string machine_file(const Places& places, std::string_view id) {
    return places.box(id) + "/machine.json";
}

}  // namespace

void write_box_files(const Places& places, std::string_view id, const Machine& machine,
                     const std::string& agent) {
    const std::string directory = places.box(id);
    sys(::mkdir(directory.c_str(), 0700), "make " + directory);
    sys(::symlink(agent.c_str(), agent_socket(places, id).c_str()), "note the agent's socket");
    write_whole(machine_file(places, id), to_json(machine));
}

Machine read_box_machine(const Places& places, std::string_view id) {
    return or_throw(machine_from_json(read_whole(machine_file(places, id))));
}

std::string agent_socket(const Places& places, std::string_view id) {
    return places.box(id) + "/agent";
}

}  // namespace oyat::microvm
