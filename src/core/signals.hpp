#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/egress_control.hpp"
#include "core/event.hpp"

namespace oyat::core {

// What a sandbox does that an operator may want to look at. Each is a guess from the outside and never a
// verdict: what follows is the operator's to say.
enum class SignalKind : std::uint8_t {
    deny_burst,    // many refused destinations within a minute: somebody looks for a way out
    dns_tunnel,    // names that carry data; the name server sees that
    upload_spike,  // far more goes out than comes in
    abuse,         // mail servers or mining pools
    secret_probe,  // placeholders of secrets towards where they do not belong
    spin           // a whole CPU for long, and nobody hears of a result
};
enum class SignalAction : std::uint8_t { note, freeze, kill };

inline constexpr std::array<std::string_view, 6> kSignalNames{"deny_burst", "dns_tunnel",   "upload_spike",
                                                              "abuse",      "secret_probe", "spin"};

struct SignalRules {
    std::array<SignalAction, kSignalNames.size()> actions{};  // by kind
    std::uint32_t denials = 50;                               // in a minute, for deny_burst
    std::uint64_t upload_bytes = 256u << 20;                  // in ten minutes, for upload_spike
    Millis spin_after{600'000};

    [[nodiscard]] SignalAction action(SignalKind kind) const {
        return actions.at(static_cast<std::size_t>(kind));
    }
};

[[nodiscard]] std::string_view to_string(SignalKind kind) noexcept;
[[nodiscard]] std::string_view to_string(SignalAction action) noexcept;
[[nodiscard]] Result<SignalAction> parse_signal_action(std::string_view text);

struct Signal {
    SignalKind kind{};
    std::string why;  // one sentence with the figures
};

// Counts in a window that moves with the time. One target counts for so much and no more: a program that
// tries the same again and again is stubborn, not curious.
class Burst {
public:
    Burst(std::chrono::seconds window, std::uint64_t most, std::uint64_t most_of_one)
        : window_{window}, most_{most}, most_of_one_{most_of_one} {}
    // True when the count of the window exceeds the most; it starts from nothing then.
    [[nodiscard]] bool take(std::string_view target, std::uint64_t count, MonoTime now);

private:
    struct Seen {
        MonoTime when;
        std::string target;
        std::uint64_t weight;
    };
    std::chrono::seconds window_;
    std::uint64_t most_;
    std::uint64_t most_of_one_;
    std::deque<Seen> seen_;  // at most `most_` and one more
};

// What one sandbox has been seen to do lately. Pure: events and samples in, signals out; a kind that was
// raised is not raised again within ten minutes.
class Suspicion {
public:
    explicit Suspicion(const SignalRules& rules);

    // An event of this sandbox.
    [[nodiscard]] std::optional<Signal> hear(const Event& event, MonoTime now);
    // How much CPU it used since the last sample, of one CPU, and how much it may.
    [[nodiscard]] std::optional<Signal> see_cpu(double percent, double most_percent, MonoTime now);
    // What it has sent and received so far, also by connections that are still open. Less than before: it is
    // counted from nothing again.
    [[nodiscard]] std::optional<Signal> see_traffic(Traffic so_far, MonoTime now);
    // Somebody outside hears of it: output, a file, a connection.
    void show_life(MonoTime now) { last_life_ = now; }

private:
    [[nodiscard]] std::optional<Signal> raise(SignalKind kind, std::string why, MonoTime now);
    [[nodiscard]] std::optional<Signal> hear_connection(const Event& event, MonoTime now);

    struct Minute {
        std::chrono::minutes when;
        std::uint64_t up, down;
    };

    const SignalRules& rules_;
    Burst denials_;
    Burst mail_;
    Burst mining_;
    Burst probes_;
    Traffic traffic_seen_;
    std::deque<Minute> traffic_;  // of the last ten minutes
    std::optional<MonoTime> busy_since_;
    MonoTime last_life_{};
    std::array<std::optional<MonoTime>, kSignalNames.size()> raised_{};
};

}  // namespace oyat::core
