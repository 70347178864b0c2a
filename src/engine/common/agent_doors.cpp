#include "engine/common/agent_doors.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::engine {
namespace {

constexpr std::string_view kSuffix = ".sock";
constexpr int kBacklog = 4;

// By the descriptor of the directory: a socket's name may have 107 bytes, and run directories may be deep.
sockaddr_un address_in(int dir, std::string_view id) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path =
        "/proc/self/fd/" + std::to_string(dir) + "/" + std::string{id} + std::string{kSuffix};
    if (path.size() >= sizeof address.sun_path)
        throw Error{Errc::invalid_argument, "the id is too long for a socket"};
    std::ranges::copy(path, address.sun_path);
    return address;
}

}  // namespace

AgentDoors::AgentDoors(const std::string& dir) : path_{dir} {
    if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) throw errno_error(errno, "make " + dir);
    dir_.reset(sys(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), "open " + dir));
    sys(::fchmod(dir_.get(), 0700), "close " + dir);
}

Fd AgentDoors::open(std::string_view id) const {
    const sockaddr_un address = address_in(dir_.get(), id);
    Fd listener{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make the agent's socket")};
    sys(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "bind the agent's socket");
    if (::listen(listener.get(), kBacklog) != 0) {
        const int error = errno;
        remove(id);
        throw errno_error(error, "listen for the agent");
    }
    return listener;
}

Fd AgentDoors::connect(std::string_view id) const {
    const sockaddr_un address = address_in(dir_.get(), id);
    Fd stream{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
    if (::connect(stream.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw errno_error(errno, "connect to the agent").because(Fault::agent);
    }
    return stream;
}

void AgentDoors::remove(std::string_view id) const noexcept {
    ::unlinkat(dir_.get(), (std::string{id} + std::string{kSuffix}).c_str(), 0);
}

std::vector<std::string> AgentDoors::ids() const {
    std::vector<std::string> ids;
    for (const std::string& name : layers::names_in(dir_.get())) {
        if (name.ends_with(kSuffix)) ids.push_back(name.substr(0, name.size() - kSuffix.size()));
    }
    return ids;
}

void AgentDoors::remove_all_if_empty() const noexcept {
    ::rmdir(path_.c_str());
}

}  // namespace oyat::engine
