#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

// The least of a host: says hello to an agent and runs commands by it, one after the other. For tests only.
namespace oyat::gvisor::test {

struct Ran {
    std::string output;
    std::int64_t code = -1;
};

class AgentHost {
public:
    explicit AgentHost(Fd connection) : connection_{std::move(connection)} {
        hello = wire::decode<wire::Hello>(next().payload).value();
    }

    // By the shell, as root.
    Ran run(const std::string& script) {
        send(wire::encode(
            wire::Request{.spawn = wire::Spawn{.argv = {"/bin/sh", "-c", script}, .user = "root"}}));
        Ran ran;
        for (;;) {
            const wire::Frame frame = next();
            if (frame.header.stream != stream_) continue;
            if (frame.header.kind == wire::FrameKind::data) ran.output += frame.payload;
            if (frame.header.kind == wire::FrameKind::event) {
                const auto event = wire::decode<wire::ProcessEvent>(frame.payload);
                if (event && event->exited) ran.code = event->exited->exit_code;
            }
            if (frame.header.kind == wire::FrameKind::end) {
                if (ran.code < 0) ran.output += wire::decode<wire::Status>(frame.payload).value().message;
                break;
            }
        }
        ++stream_;
        return ran;
    }

    // Anything else: its end.
    wire::Status ask(const wire::Request& request) {
        send(wire::encode(request));
        for (;;) {
            const wire::Frame frame = next();
            if (frame.header.stream != stream_ || frame.header.kind != wire::FrameKind::end) continue;
            ++stream_;
            return wire::decode<wire::Status>(frame.payload).value();
        }
    }

    wire::Hello hello;

private:
    void send(const std::string& request) {
        std::string bytes;
        wire::append_frame(bytes, wire::FrameKind::request, stream_, wire::ChannelId::none, request);
        sys(::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "write to the agent");
    }

    wire::Frame next() {
        for (;;) {
            if (std::optional<wire::Frame> frame = or_throw(frames_.next())) return *std::move(frame);
            pollfd wait{connection_.get(), POLLIN, 0};
            if (::poll(&wait, 1, 20'000) != 1) throw Error{Errc::deadline, "the agent is silent"};
            std::array<char, 4096> part;
            const ssize_t n = sys(::read(connection_.get(), part.data(), part.size()), "read from the agent");
            if (n == 0) throw Error{Errc::unavailable, "the agent hung up"};
            frames_.feed({part.data(), static_cast<std::size_t>(n)});
        }
    }

    Fd connection_;
    wire::FrameParser frames_;
    std::uint32_t stream_ = 1;
};

}  // namespace oyat::gvisor::test
