#include "cli/keeper_door.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "cli/failure.hpp"

namespace oyat::cli {
namespace {

constexpr const char* kName = "operator.sock";
constexpr timeval kAnswerLimit{.tv_sec = 10, .tv_usec = 0};

// As the keeper binds it: a state may lie deeper than a socket's address is long.
Fd connect_in(const std::string& directory) {
    const Fd dir{sys(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open " + directory)};
    const std::string path = "/proc/self/fd/" + std::to_string(dir.get()) + "/" + kName;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    Fd socket{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "make a socket")};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerLimit, sizeof kAnswerLimit);
    sys(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "connect to " + directory + "/" + kName);
    return socket;
}

}  // namespace

KeeperDoor::KeeperDoor(const std::string& state) : directory_{state + "/keeper"} {}

bool KeeperDoor::is_there() const {
    return ::geteuid() == 0 && ::access((directory_ + "/" + kName).c_str(), W_OK) == 0;
}

wire::KeeperReply KeeperDoor::ask(wire::KeeperRequest order) const {
    order.id = 1;
    try {
        const Fd socket = connect_in(directory_);
        const std::string bytes = wire::encode(order);
        sys(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "ask the keeper");
        std::string answer(wire::kMaxKeeperPacket, '\0');
        const auto n = sys(::recv(socket.get(), answer.data(), answer.size(), 0), "hear the keeper");
        answer.resize(static_cast<std::size_t>(n));
        const Result<wire::KeeperReply> reply = wire::decode<wire::KeeperReply>(answer);
        if (n == 0 || !reply) throw Error{Errc::internal, Fault::engine, "the keeper did not understand"};
        if (reply->code == 0) return *reply;
        throw Error{static_cast<Errc>(std::min(reply->code - 1, static_cast<std::uint32_t>(Errc::internal))),
                    Fault::engine, reply->message};
    } catch (const Error& error) {
        throw Failure{Error{error}, "this asks the keeper of " + directory_ +
                                        "; 'systemctl status oyat-keeper' says whether it runs"};
    }
}

}  // namespace oyat::cli
