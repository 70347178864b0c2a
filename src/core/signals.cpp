#include "core/signals.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuietAfter = 10min;  // of a kind that was raised
constexpr auto kTrafficWindow = 10min;
constexpr std::uint64_t kMostOfOneTarget = 10;
constexpr std::uint64_t kUploadRatio =
    4;  // an upload sends more than it gets; a browser, the other way round
constexpr double kWholeCpu = 0.9;

constexpr std::array<std::string_view, 3> kActions{"note", "freeze", "kill"};

// Submission and relay (RFC 6409, RFC 8314).
constexpr std::array<std::uint64_t, 3> kMailPorts{25, 465, 587};
// What public pools listen on for Stratum; a web server on one of them is rare enough for a guess.
constexpr std::array<std::uint64_t, 8> kMiningPorts{3333, 4444, 5555, 7777, 14433, 14444, 45560, 45700};
// Where IRC listens, by which machines that were taken over are told what to do (threats E-21).
constexpr std::array<std::uint64_t, 7> kIrcPorts{194, 6665, 6666, 6667, 6668, 6669, 6697};
constexpr std::array<std::string_view, 9> kPools{"2miners.com",   "ethermine.org",  "f2pool.com",
                                                 "hashvault.pro", "minexmr.com",    "nanopool.org",
                                                 "nicehash.com",  "supportxmr.com", "unmineable.com"};

std::uint64_t number(const Event& event, std::string_view name, std::uint64_t otherwise) {
    const boost::json::value* value = event.fields.if_contains(name);
    if (value == nullptr) return otherwise;
    boost::system::error_code wrong;
    const auto n = value->to_number<std::uint64_t>(wrong);
    return wrong ? otherwise : n;
}

std::string text(const Event& event, std::string_view name) {
    const boost::json::value* value = event.fields.if_contains(name);
    return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

bool is_pool(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    if (host.starts_with("stratum.") || host.starts_with("stratum-")) return true;
    return std::ranges::any_of(kPools, [&](std::string_view pool) {
        return host == pool || (host.ends_with(pool) && host[host.size() - pool.size() - 1] == '.');
    });
}

std::string in_mib(std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

std::string_view to_string(SignalKind kind) noexcept {
    return kSignalNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(SignalAction action) noexcept {
    return kActions[static_cast<std::size_t>(action)];
}

Result<SignalAction> parse_signal_action(std::string_view text) {
    const auto found = std::ranges::find(kActions, text);
    if (found != kActions.end()) return static_cast<SignalAction>(found - kActions.begin());
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not note, freeze or kill");
}

bool Burst::take(std::string_view target, std::uint64_t count, MonoTime now) {
    while (!seen_.empty() && now - seen_.front().when >= window_) seen_.pop_front();
    std::uint64_t of_this = 0;
    std::uint64_t sum = 0;
    for (const Seen& each : seen_) {
        sum += each.weight;
        if (each.target == target) of_this += each.weight;
    }
    const std::uint64_t weight = std::min(count, most_of_one_ - std::min(of_this, most_of_one_));
    if (weight == 0) return false;
    if (sum + weight > most_) {
        seen_.clear();
        return true;
    }
    seen_.push_back({now, std::string{target}, weight});
    return false;
}

Suspicion::Suspicion(const SignalRules& rules)
    : rules_{rules},
      denials_{60s, rules.denials, kMostOfOneTarget},
      mail_{60s, 2, 3},
      mining_{60s, 2, 3},
      probes_{600s, 2, 3} {}

std::optional<Signal> Suspicion::raise(SignalKind kind, std::string why, MonoTime now) {
    std::optional<MonoTime>& last = raised_.at(static_cast<std::size_t>(kind));
    if (last && now - *last < kQuietAfter) return std::nullopt;
    last = now;
    return Signal{kind, std::move(why)};
}

std::optional<Signal> Suspicion::hear(const Event& event, MonoTime now) {
    const std::string_view type = event.type;
    if (type == "signal.dns_tunnel") {
        return raise(SignalKind::dns_tunnel, "names below " + text(event, "domain") + " carry data", now);
    }
    if (type.starts_with("command.") || type.starts_with("file.") || type.starts_with("connect.") ||
        type.starts_with("ingress.")) {
        show_life(now);
    }
    if (type == "secret.leak_attempt" && probes_.take("", number(event, "count", 1), now)) {
        return raise(SignalKind::secret_probe,
                     "placeholders of secrets were sent where they do not belong, three times in ten minutes",
                     now);
    }
    if (type == "connect.closed") return std::nullopt;  // was heard when it was judged
    if (type.starts_with("connect.") || type.starts_with("dns.")) return hear_connection(event, now);
    return std::nullopt;
}

// Names and connections, whether they were allowed or not.
std::optional<Signal> Suspicion::hear_connection(const Event& event, MonoTime now) {
    const std::uint64_t count = number(event, "count", 1);
    const std::uint64_t port = number(event, "port", 0);
    const std::string name = text(event, event.type.starts_with("dns.") ? "name" : "host");
    const std::string target = (name.empty() ? text(event, "addr") : name) + ":" + std::to_string(port);
    if (std::ranges::find(kMailPorts, port) != kMailPorts.end() && mail_.take(target, count, now)) {
        return raise(SignalKind::abuse, "connections to mail servers, the last to " + target, now);
    }
    const bool chats = std::ranges::find(kIrcPorts, port) != kIrcPorts.end();
    if (chats && mining_.take(target, count, now)) {
        return raise(SignalKind::abuse, "connections to IRC servers, the last to " + target, now);
    }
    const bool mines = std::ranges::find(kMiningPorts, port) != kMiningPorts.end() || is_pool(name);
    if (mines && mining_.take(target, count, now)) {
        return raise(SignalKind::abuse, "connections to mining pools, the last to " + target, now);
    }
    if (event.type.ends_with(".denied") && denials_.take(target, count, now)) {
        return raise(SignalKind::deny_burst,
                     "more than " + std::to_string(rules_.denials) +
                         " refusals within a minute, the last of " + target,
                     now);
    }
    return std::nullopt;
}

std::optional<Signal> Suspicion::see_traffic(Traffic so_far, MonoTime now) {
    if (so_far.up < traffic_seen_.up || so_far.down < traffic_seen_.down) traffic_seen_ = {};
    const Traffic before = std::exchange(traffic_seen_, so_far);
    const auto minute = std::chrono::duration_cast<std::chrono::minutes>(now.time_since_epoch());
    while (!traffic_.empty() && minute - traffic_.front().when >= kTrafficWindow) traffic_.pop_front();
    if (traffic_.empty() || traffic_.back().when != minute) traffic_.push_back({minute, 0, 0});
    traffic_.back().up += so_far.up - before.up;
    traffic_.back().down += so_far.down - before.down;
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    for (const Minute& each : traffic_) {
        up += each.up;
        down += each.down;
    }
    if (up < rules_.upload_bytes || up / kUploadRatio < down) return std::nullopt;
    traffic_.clear();
    return raise(SignalKind::upload_spike,
                 in_mib(up) + " sent within ten minutes, " + in_mib(down) + " received", now);
}

std::optional<Signal> Suspicion::see_cpu(double percent, double most_percent, MonoTime now) {
    if (percent < kWholeCpu * std::min(100.0, most_percent)) {
        busy_since_.reset();
        return std::nullopt;
    }
    if (!busy_since_) busy_since_ = now;
    const MonoTime since = std::max(*busy_since_, last_life_);
    if (now - since < rules_.spin_after) return std::nullopt;
    busy_since_ = now;
    return raise(
        SignalKind::spin,
        "a whole CPU for " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(rules_.spin_after).count()) +
            " s, without output or a connection",
        now);
}

}  // namespace oyat::core
