#include "egress/judge.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/throwing.hpp"
#include "egress/first_bytes.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

using policy::Need;
using policy::Protocol;
using policy::Strength;
using Way = Passage::Way;

constexpr Millis kLook{10'000};
// A program that says nothing for so long waits for the server to begin: SSH, SQL, mail.
constexpr Millis kSilence{300};

Passage& refuse_by(Passage& passage, std::string_view what) {
    passage.way = Way::refuse;
    passage.decision = {.action = policy::Action::deny, .rule = what};
    return passage;
}

}  // namespace

Task<Passage> Judge::connection(AsyncFd& inside, Destination to, std::string first) const {
    Passage passage;
    passage.bytes = std::move(first);
    passage.attempt.address = to.address;
    passage.attempt.port = to.port;
    passage.host = pins_.name_of(to.address, shared_.clock.mono());
    if (!passage.host.empty()) passage.attempt.strength = Strength::pin;
    if (decide(passage) && !(passage.way == Way::pass && may_carry_secrets())) co_return passage;
    co_return co_await by_first_bytes(inside, std::move(passage));
}

Task<Passage> Judge::heard(AsyncFd& inside, Passage passage) const {
    passage.unheard = false;
    passage.attempt.final = false;
    passage.attempt.name.reset();
    passage.attempt.protocol.reset();
    co_return co_await by_first_bytes(inside, std::move(passage));
}

Task<Passage> Judge::by_first_bytes(AsyncFd& inside, Passage passage) const {
    if (co_await look(inside, passage) == Look::refused) co_return passage;
    // Of HTTP in clear each request says where it goes.
    if (passage.attempt.protocol == Protocol::http) {
        passage.policy = policy_;
        passage.way = Way::read_http;
        co_return passage;
    }
    passage.attempt.final = passage.attempt.protocol != Protocol::tls;
    decide(passage);
    co_return passage;
}

bool Judge::decide(Passage& passage) const {
    passage.policy = policy_;
    passage.decision = policy::decide(*policy_, passage.attempt, shared_.clock.wall());
    passage.way = passage.decision.allows() ? Way::pass : Way::refuse;
    const bool tls = passage.attempt.protocol == Protocol::tls;
    const std::string& name = passage.host;
    if (!tls || name.empty()) return passage.decision.need == Need::nothing;
    const bool wanted =
        passage.decision.allows() && policy::wants_interception(*policy_, name, passage.attempt.port);
    if (passage.decision.need == Need::request || wanted) {
        passage.way = Way::read_tls;
        if (policy::bypasses_interception(*policy_, name)) {
            if (wanted) {
                passage.way = Way::pass;
            } else {
                refuse_by(passage, "bypass");
            }
        }
    }
    return true;
}

// A placeholder must not leave in clear towards any host, nor a request to a bound host go unread.
bool Judge::may_carry_secrets() const {
    return !policy_->interceptions.empty();
}

Task<Judge::Look> Judge::look(AsyncFd& inside, Passage& passage) const {
    const MonoTime end = shared_.clock.mono() + kLook;
    bool silent = false;
    for (;;) {
        FirstBytes first = look_at(passage.bytes);
        switch (first.kind) {
            case FirstBytes::Kind::incomplete: break;
            case FirstBytes::Kind::refused: refuse_by(passage, first.why); co_return Look::refused;
            case FirstBytes::Kind::http: passage.attempt.protocol = Protocol::http; co_return Look::seen;
            case FirstBytes::Kind::other:
                passage.attempt.protocol = Protocol::tcp;
                take_pinned_name(passage);
                co_return Look::seen;
            case FirstBytes::Kind::tls:
                passage.attempt.protocol = Protocol::tls;
                co_return co_await take_name(passage, std::move(first.name));
        }
        const auto left = std::chrono::duration_cast<Millis>(end - shared_.clock.mono());
        if (left <= Millis{0} || passage.bytes.size() >= FirstBytes::kMost) {
            refuse_by(passage, "first-bytes");
            co_return Look::refused;
        }
        const bool waits_for_silence = passage.bytes.empty() && !silent;
        if (co_await read_more(inside, passage, waits_for_silence ? std::min(left, kSilence) : left))
            continue;
        if (!waits_for_silence) continue;
        silent = true;
        Passage as_pinned = passage;
        as_pinned.attempt.protocol = Protocol::tcp;
        as_pinned.attempt.final = true;
        take_pinned_name(as_pinned);
        decide(as_pinned);
        if (as_pinned.way == Way::pass) {
            as_pinned.unheard = true;
            passage = std::move(as_pinned);
            co_return Look::seen;
        }
    }
}

// False when nothing came in time.
Task<bool> Judge::read_more(AsyncFd& inside, Passage& passage, Millis limit) const {
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t n = ::recv(inside.get(), buffer.data(), buffer.size(), 0);
        if (n < 0 && errno == EAGAIN) {
            if (co_await race(inside.readable(), sleep_for(limit)) == 1) co_return false;
            continue;
        }
        if (sys(n, "read") == 0) throw Error{Errc::unavailable, "the program closed the connection"};
        passage.bytes.append(buffer.data(), static_cast<std::size_t>(n));
        co_return true;
    }
}

Task<Judge::Look> Judge::take_name(Passage& passage, std::string name) const {
    if (name.empty()) {
        take_pinned_name(passage);
        co_return Look::seen;
    }
    passage.host = name;
    if (!co_await stands_for(name, passage.attempt.address)) {
        refuse_by(passage, "name-address-mismatch");
        co_return Look::refused;
    }
    passage.attempt.name = std::move(name);
    passage.attempt.strength = Strength::sni_pin;
    co_return Look::seen;
}

// Without a name of its own a connection counts as one to what its address was looked up for, when that is
// one name only.
void Judge::take_pinned_name(Passage& passage) const {
    std::vector<std::string> names = pins_.names_of(passage.attempt.address, shared_.clock.mono());
    const bool one = names.size() == 1;
    passage.attempt.name = one ? std::move(names.front()) : "";
    passage.attempt.strength = one ? Strength::pin : Strength::cidr;
}

Task<bool> Judge::stands_for(std::string name, IpAddress address) const {
    const auto is_pinned = [&] {
        const std::vector<std::string> names = pins_.names_of(address, shared_.clock.mono());
        return std::ranges::find(names, name) != names.end();
    };
    if (is_pinned()) co_return true;
    co_await lookup_(name);
    co_return is_pinned();
}

policy::Decision Judge::request(const Passage& passage, std::string name,
                                const policy::Request& request) const {
    policy::Attempt attempt = passage.attempt;
    attempt.name = std::move(name);
    attempt.strength = Strength::authority;
    attempt.request = &request;
    attempt.final = true;
    return policy::decide(*policy_, attempt, shared_.clock.wall());
}

// It was passed on unread before something was bound to its host. The program comes back, and then it is
// read.
bool Judge::has_to_be_read(const Passage& passage) const {
    if (passage.attempt.protocol.value_or(Protocol::tls) != Protocol::tls) return false;
    std::vector<std::string> names{passage.host};
    if (passage.host.empty()) names = pins_.names_of(passage.attempt.address, shared_.clock.mono());
    return std::ranges::any_of(names, [&](const std::string& name) {
        return policy::wants_interception(*policy_, name, passage.attempt.port) &&
               !policy::bypasses_interception(*policy_, name);
    });
}

bool Judge::still_passes(const Passage& passage) const {
    policy::Attempt attempt = passage.attempt;
    const bool read = passage.way == Way::read_tls || passage.way == Way::read_http;
    // Requests to come are judged one by one.
    attempt.final = !read;
    if (!read && !attempt.name) attempt.name = passage.host;
    if (!read && has_to_be_read(passage)) return false;
    const policy::Decision decision = policy::decide(*policy_, attempt, shared_.clock.wall());
    return decision.allows() || (read && decision.need != Need::nothing);
}

}  // namespace oyat::egress
