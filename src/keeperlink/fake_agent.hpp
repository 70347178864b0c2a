#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/throwing.hpp"
#include "io/async_fd.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::keeperlink {

// The agent's end of a socket pair, for tests: it says exactly what the test tells it, right or wrong.
class FakeAgent {
public:
    FakeAgent(Executor executor, Fd socket) : socket_{std::move(executor), std::move(socket)} {}

    // Two connected stream sockets: ours and the agent's.
    static std::pair<Fd, Fd> socket_pair() {
        int fds[2];
        sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "make a socket pair");
        return {Fd{fds[0]}, Fd{fds[1]}};
    }

    void hello(std::uint64_t generation) {
        say(wire::FrameKind::hello, 0,
            wire::encode(wire::Hello{
                .magic = wire::kAgentMagic, .version = wire::kAgentVersion, .generation = generation}));
    }
    void say(wire::FrameKind kind, std::uint32_t stream, std::string_view payload,
             wire::ChannelId channel = wire::ChannelId::none) {
        std::string frame;
        wire::append_frame(frame, kind, stream, channel, payload);
        raw(frame);
    }
    template <class T>
    void event(std::uint32_t stream, const T& message) {
        say(wire::FrameKind::event, stream, wire::encode(message));
    }
    void started(std::uint32_t stream, std::uint32_t pid) {
        event(stream, wire::ProcessEvent{.started = wire::Started{.pid = pid, .started_ms = 1}});
    }
    void output(std::uint32_t stream, std::string_view bytes,
                wire::ChannelId channel = wire::ChannelId::stdout_) {
        say(wire::FrameKind::data, stream, bytes, channel);
    }
    void exited(std::uint32_t stream, std::int32_t code) {
        event(stream, wire::ProcessEvent{.exited = wire::Exited{.exit_code = code}});
        end(stream);
    }
    void end(std::uint32_t stream, wire::Status status = {}) {
        say(wire::FrameKind::end, stream, wire::encode(status));
    }
    // Bytes as they are. What the socket does not take at once goes out with flushed() or next().
    void raw(std::string_view bytes) {
        unsent_.append(bytes);
        flush();
    }
    // Returns when everything is out, or the host has hung up.
    Task<> flushed() {
        while (!flush()) co_await socket_.writable();
    }

    // The next frame of the host, or one of kind HELLO (which no host sends) when it hung up.
    Task<wire::Frame> next() {
        while (true) {
            co_await flushed();
            if (auto frame = or_throw(parser_.next())) co_return *std::move(frame);
            char bytes[4096];
            const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
            if (got > 0) {
                parser_.feed({bytes, static_cast<std::size_t>(got)});
            } else if (got == 0 || errno != EAGAIN) {
                co_return wire::Frame{.header = {.kind = wire::FrameKind::hello}, .payload = {}};
            } else {
                co_await socket_.readable();
            }
        }
    }
    // The next REQUEST, whatever credit comes before it.
    Task<std::pair<std::uint32_t, wire::Request>> request() {
        while (true) {
            const wire::Frame frame = co_await next();
            if (frame.header.kind == wire::FrameKind::hello)
                throw Error{Errc::unavailable, "the host hung up"};
            if (frame.header.kind != wire::FrameKind::request) continue;
            co_return std::pair{frame.header.stream, or_throw(wire::decode<wire::Request>(frame.payload))};
        }
    }
    void hang_up() { socket_.close(); }

private:
    bool flush() {
        while (!unsent_.empty()) {
            const ssize_t sent =
                ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EAGAIN) return false;
            unsent_.erase(0, sent < 0 ? unsent_.size() : static_cast<std::size_t>(sent));
        }
        return true;
    }

    AsyncFd socket_;
    std::string unsent_;
    wire::FrameParser parser_;
};

}  // namespace oyat::keeperlink
