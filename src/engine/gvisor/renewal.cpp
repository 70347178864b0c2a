#include "engine/gvisor/renewal.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/fd.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::gvisor {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr std::uint32_t kStream = 1;
constexpr std::size_t kMachineIdBytes = 16;

void await(int fd) {
    pollfd wait{fd, POLLIN, 0};
    if (sys(::poll(&wait, 1, kPatienceMs), "wait for the agent") == 0) {
        throw Error{Errc::deadline, Fault::engine, "the agent did not answer in time"};
    }
}

wire::Frame next(int connection, wire::FrameParser& parser) {
    for (;;) {
        if (std::optional<wire::Frame> frame = or_throw(parser.next())) return *std::move(frame);
        await(connection);
        std::array<char, 4096> part{};
        const ssize_t got = sys(::recv(connection, part.data(), part.size(), 0), "hear the agent");
        if (got == 0) throw Error{Errc::unavailable, Fault::agent, "the agent hung up"};
        parser.feed({part.data(), static_cast<std::size_t>(got)});
    }
}

}  // namespace

void renew(int listener, std::uint64_t generation, const std::string& id) {
    in("renew the agent", [&] {
        await(listener);
        const Fd connection{sys(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "meet it")};
        wire::FrameParser parser;
        if (next(connection.get(), parser).header.kind != wire::FrameKind::hello) {
            throw Error{Errc::unavailable, Fault::agent, "the agent does not say hello"};
        }
        wire::Renew renewal{
            .host_name = id, .machine_id = random_hex(kMachineIdBytes), .generation = generation};
        renewal.entropy.resize(wire::kRenewalEntropy);
        sys(::getrandom(renewal.entropy.data(), renewal.entropy.size(), 0), "get random bytes");
        std::string bytes;
        wire::append_frame(bytes, wire::FrameKind::request, kStream, wire::ChannelId::none,
                           wire::encode(wire::Request{.renew = std::move(renewal)}));
        sys(::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "speak to the agent");
        for (;;) {
            const wire::Frame frame = next(connection.get(), parser);
            if (frame.header.stream != kStream || frame.header.kind != wire::FrameKind::end) continue;
            const auto status = or_throw(wire::decode<wire::Status>(frame.payload));
            if (status.code == 0) return;
            throw Error{Errc::failed_precondition, Fault::agent, "it refuses: " + status.message};
        }
    });
}

}  // namespace oyat::gvisor
