#include "engine/common/agent_line.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::engine {
namespace {

constexpr Millis kGlance{20};       // between two looks at whether the machine still lives
constexpr Millis kKnockAgain{500};  // a knock can be lost in the rest of what an earlier host had sent
constexpr std::size_t kMachineIdBytes = 16;
constexpr std::size_t kMostOfAnAnswer = std::size_t{1} << 20;

std::uint64_t random_number() {
    std::uint64_t number = 0;
    while (number == 0) sys(::getrandom(&number, sizeof number, 0), "get a random number");
    return number;
}

Error no_answer() {
    return Error{Errc::deadline, Fault::engine, "the agent did not answer in time"};
}

MonoTime now() {
    return SystemClock{}.mono();
}

}  // namespace

AgentLine::AgentLine(Fd socket, Millis patience, std::function<void()> alive)
    : socket_{std::move(socket)}, patience_{patience}, alive_{std::move(alive)} {}

wire::Hello AgentLine::greet() {
    const MonoTime until = now() + patience_;
    const std::uint64_t number = random_number();
    while (now() < until) {
        send(wire::FrameKind::knock, 0, wire::u64_payload(number));
        const MonoTime again = std::min(until, now() + kKnockAgain);
        while (const std::optional<wire::Frame> frame = now() < until ? next(again) : std::nullopt) {
            if (frame->header.kind != wire::FrameKind::hello) continue;
            const wire::Hello hello = or_throw(wire::decode<wire::Hello>(frame->payload));
            if (hello.magic != wire::kAgentMagic || hello.version != wire::kAgentVersion) {
                throw Error{Errc::failed_precondition, Fault::engine, "the agent speaks another version"};
            }
            if (hello.echo == number) return hello;
        }
    }
    throw no_answer();
}

AgentLine::Answer AgentLine::ask(const wire::Request& request) {
    const std::uint32_t stream = ++last_stream_;
    send(wire::FrameKind::request, stream, wire::encode(request));
    const MonoTime until = now() + patience_;
    Answer answer;
    for (std::size_t bytes = 0; bytes <= kMostOfAnAnswer;) {
        std::optional<wire::Frame> frame = now() < until ? next(until) : std::nullopt;
        if (!frame) throw no_answer();
        bytes += sizeof(wire::Frame) + frame->payload.size();
        if (frame->header.stream != stream) continue;
        if (frame->header.kind == wire::FrameKind::event) answer.events.push_back(std::move(frame->payload));
        if (frame->header.kind == wire::FrameKind::data) answer.data += frame->payload;
        if (frame->header.kind == wire::FrameKind::end) {
            answer.status = or_throw(wire::decode<wire::Status>(frame->payload));
            return answer;
        }
    }
    throw Error{Errc::unavailable, Fault::agent, "the agent talks without end"};
}

std::optional<wire::Frame> AgentLine::next(MonoTime until) {
    for (;;) {
        if (std::optional<wire::Frame> frame = or_throw(parser_.next())) return frame;
        alive_();
        if (now() >= until) return std::nullopt;
        pollfd readable{socket_.get(), POLLIN, 0};
        if (::poll(&readable, 1, static_cast<int>(kGlance.count())) <= 0) continue;
        std::array<char, 16 * 1024> part{};
        const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
        if (got <= 0) {
            alive_();
            throw Error{Errc::unavailable, Fault::engine, "the agent hung up"};
        }
        parser_.feed({part.data(), static_cast<std::size_t>(got)});
    }
}

void AgentLine::send(wire::FrameKind kind, std::uint32_t stream, std::string_view payload) {
    std::string bytes;
    wire::append_frame(bytes, kind, stream, wire::ChannelId::none, payload);
    sys(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "speak to the agent");
}

void renew(AgentLine& agent, std::uint64_t generation, const std::string& id) {
    wire::Renew renewal{.host_name = id, .machine_id = random_hex(kMachineIdBytes), .generation = generation};
    renewal.entropy.resize(wire::kRenewalEntropy);
    sys(::getrandom(renewal.entropy.data(), renewal.entropy.size(), 0), "get random bytes");
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    renewal.wall_ns =
        (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000) + static_cast<std::uint64_t>(time.tv_nsec);
    const AgentLine::Answer answer = agent.ask({.renew = std::move(renewal)});
    if (answer.status.code == 0) return;
    throw Error{Errc::failed_precondition, Fault::agent,
                "the agent refuses a new life: " + answer.status.message};
}

}  // namespace oyat::engine
