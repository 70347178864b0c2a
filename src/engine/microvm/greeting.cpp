#include "engine/microvm/greeting.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include <array>
#include <optional>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "engine/microvm/unix_socket.hpp"
#include "wire/frame.hpp"

namespace oyat::microvm {
namespace {

constexpr Millis kFirstWait{200};
constexpr Millis kGlance{20};  // between two looks at whether the machine still lives
constexpr std::uint32_t kStream = 1;
constexpr std::size_t kMachineIdBytes = 16;

// Frames of the guest's agent, whose bytes are the guest's to choose.
class Conversation {
public:
    Conversation(int socket, Millis patience, const std::function<void()>& alive)
        : socket_{socket}, until_{SystemClock{}.mono() + patience}, alive_{alive} {}

    wire::Frame next(wire::FrameKind kind) {
        for (;;) {
            std::optional<wire::Frame> frame = or_throw(parser_.next());
            if (frame && frame->header.kind == kind) return *std::move(frame);
            if (!frame) receive();
        }
    }

private:
    void receive() {
        pollfd wait{socket_, POLLIN, 0};
        while (::poll(&wait, 1, static_cast<int>(kGlance.count())) == 0) {
            alive_();
            if (SystemClock{}.mono() > until_) {
                throw Error{Errc::deadline, Fault::engine, "the agent did not answer in time"};
            }
        }
        std::array<char, 4096> part{};
        const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
        if (got <= 0) {
            alive_();
            throw Error{Errc::unavailable, Fault::engine, "the machine hung up"};
        }
        parser_.feed({part.data(), static_cast<std::size_t>(got)});
    }

    int socket_;
    MonoTime until_;
    const std::function<void()>& alive_;
    wire::FrameParser parser_;
};

wire::Hello hear_hello(Conversation& agent) {
    wire::Hello hello = or_throw(wire::decode<wire::Hello>(agent.next(wire::FrameKind::hello).payload));
    if (hello.magic != wire::kAgentMagic || hello.version != wire::kAgentVersion) {
        throw Error{Errc::failed_precondition, Fault::engine, "the agent speaks another version"};
    }
    return hello;
}

// The guest may not see that a connection has ended when the next one begins at once, and then takes it for
// the same: after a while it is begun anew.
Fd connect_and_hear(const std::string& door, Millis patience, const std::function<void()>& alive) {
    const MonoTime until = SystemClock{}.mono() + patience;
    for (Millis wait = kFirstWait;; wait *= 2) {
        Fd socket = connect_to(door);
        try {
            Conversation agent{socket.get(), wait, alive};
            static_cast<void>(hear_hello(agent));
            return socket;
        } catch (const Error& error) {
            if (error.code() != Errc::deadline || SystemClock{}.mono() > until) throw;
        }
    }
}

}  // namespace

wire::Hello wait_for_hello(int socket, Millis patience, const std::function<void()>& alive) {
    Conversation agent{socket, patience, alive};
    return hear_hello(agent);
}

void renew(const std::string& door, Millis patience, std::uint64_t generation, const std::string& id,
           const std::function<void()>& alive) {
    const Fd socket = connect_and_hear(door, patience, alive);
    Conversation agent{socket.get(), patience, alive};
    wire::Renew renewal{.host_name = id, .machine_id = random_hex(kMachineIdBytes), .generation = generation};
    renewal.entropy.resize(wire::kRenewalEntropy);
    sys(::getrandom(renewal.entropy.data(), renewal.entropy.size(), 0), "get random bytes");
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    renewal.wall_ns =
        (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000) + static_cast<std::uint64_t>(now.tv_nsec);
    std::string bytes;
    wire::append_frame(bytes, wire::FrameKind::request, kStream, wire::ChannelId::none,
                       wire::encode(wire::Request{.renew = std::move(renewal)}));
    sys(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "speak to the agent");
    const wire::Status status =
        or_throw(wire::decode<wire::Status>(agent.next(wire::FrameKind::end).payload));
    if (status.code != 0) {
        throw Error{Errc::failed_precondition, Fault::agent,
                    "the agent refuses a new life: " + status.message};
    }
}

}  // namespace oyat::microvm
