#include "engine/gvisor/homes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::gvisor {
Homes::Homes(std::string dir) : path_{std::move(dir)}, dir_{layers::make_directories(path_)} {}

Homes::~Homes() {
    ::rmdir(path_.c_str());
}

void Homes::make(std::string_view id, uid_t owner) const {
    in("make a home for " + std::string{id}, [&] {
        const Fd home = layers::make_directory(dir_.get(), std::string{id}, 0700);
        (void)layers::make_directory(home.get(), "state", 0700);
        const Fd door = layers::make_directory(home.get(), "door", 0700);
        sys(::fchown(door.get(), owner, owner), "give the door away");
    });
}

void Homes::remove(std::string_view id) const noexcept {
    try {
        layers::remove_tree_and_rests(dir_.get(), std::string{id});
    } catch (const Error&) {
        return;  // ids() names it again
    }
}

std::vector<std::string> Homes::ids() const {
    std::vector<std::string> ids;
    for (const std::string& name : layers::names_in(dir_.get()))
        ids.emplace_back(layers::without_rest_number(name));
    return ids;
}

Fd Homes::state(std::string_view id) const {
    return layers::open_directory(dir_.get(), std::string{id} + "/state");
}

Fd Homes::door(std::string_view id) const {
    return layers::open_directory(dir_.get(), std::string{id} + "/door");
}

Fd Homes::image(std::string_view id) const {
    const Fd home = layers::open_directory(dir_.get(), std::string{id});
    return layers::make_directory(home.get(), "image", 0700);
}

void Homes::note(std::string_view id, const std::string& which, const engine::Process& process) const {
    const Fd home = layers::open_directory(dir_.get(), std::string{id});
    layers::replace_file(home.get(), which,
                         std::to_string(process.pid) + " " + std::to_string(process.start_ticks));
}

std::optional<engine::Process> Homes::find(std::string_view id, const std::string& which) const noexcept {
    try {
        const Fd home = layers::open_directory(dir_.get(), std::string{id});
        const std::string text = layers::read_file(home.get(), which);
        const char* const end = text.data() + text.size();
        pid_t pid = -1;
        std::uint64_t ticks = 0;
        const auto first = std::from_chars(text.data(), end, pid);
        if (first.ptr == end || *first.ptr != ' ') return std::nullopt;
        std::from_chars(first.ptr + 1, end, ticks);
        return engine::find_process(pid, ticks);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace oyat::gvisor
