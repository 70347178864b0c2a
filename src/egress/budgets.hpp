#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "egress/token_bucket.hpp"

namespace oyat::policy {
struct Rule;
}

namespace oyat::egress {

// How many bytes and connections one sandbox may use in a day, in all and by each rule that says so. Who has
// used a budget up gets no new connections; those that run are slowed down for a minute, so that an honest
// program can end what it does, and then cut. A day begins with the first byte, and with a start of oyatd.
class Budgets {
public:
    struct Limits {
        std::uint64_t up_bytes = 0, down_bytes = 0;  // 0: no bound
    };
    enum class Direction : std::uint8_t { up, down };
    // `tell` hears once of each budget when four fifths are used ("near") and when all is ("used up"): which
    // one, and how much.
    using Tell = std::function<void(std::string_view budget, std::string_view what, std::uint64_t limit)>;

    Budgets(Limits limits, Tell tell) : limits_{limits}, tell_{std::move(tell)} {}

    // Whether one more connection by this rule (null: by a document's default) may be opened; counts it when
    // it may.
    [[nodiscard]] bool open(const policy::Rule* rule, MonoTime now);
    // The same for one more request on a connection that is counted already.
    [[nodiscard]] bool request(const policy::Rule* rule, MonoTime now);
    void close(const policy::Rule* rule);

    // After bytes have passed: how long to wait before the next. Throws Error{exhausted} when the connection
    // is to be cut.
    [[nodiscard]] std::chrono::nanoseconds spend(const policy::Rule* rule, Direction direction,
                                                 std::uint64_t bytes, MonoTime now);

private:
    struct Use {
        std::uint64_t bytes = 0;
        MonoTime day_began{};
        MonoTime used_up{};  // when all was used
        bool told_near = false;
    };
    struct RuleUse {
        Use up, down;
        std::uint32_t connections = 0;
        std::optional<TokenBucket> rate;
    };
    [[nodiscard]] bool all_used_up(MonoTime now) const;
    [[nodiscard]] static bool may_go_on(RuleUse& use, const policy::Rule& rule, MonoTime now);
    static void begin_day(Use& use, MonoTime now);
    [[nodiscard]] static bool is_used_up(const Use& use, std::uint64_t limit, MonoTime now);
    std::chrono::nanoseconds count(Use& use, std::uint64_t limit, const std::string& budget,
                                   std::uint64_t bytes, MonoTime now);

    Limits limits_;
    Tell tell_;
    Use up_, down_;
    std::map<std::string, RuleUse, std::less<>>
        rules_;  // by id, so that a new generation of the policy goes on counting
};

}  // namespace oyat::egress
