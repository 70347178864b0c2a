#include "egress/budgets.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "policy/rule.hpp"

namespace oyat::egress {
namespace {

constexpr std::chrono::hours kDay{24};
constexpr std::chrono::seconds kToEnd{60};
constexpr double kSlowBytesPerSecond = 64 * 1024;

}  // namespace

void Budgets::begin_day(Use& use, MonoTime now) {
    if (use.bytes == 0 || now - use.day_began >= kDay) use = {.bytes = 0, .day_began = now};
}

bool Budgets::is_used_up(const Use& use, std::uint64_t limit, MonoTime now) {
    return limit > 0 && use.bytes >= limit && now - use.day_began < kDay;
}

bool Budgets::all_used_up(MonoTime now) const {
    return is_used_up(up_, limits_.up_bytes, now) || is_used_up(down_, limits_.down_bytes, now);
}

bool Budgets::may_go_on(RuleUse& use, const policy::Rule& rule, MonoTime now) {
    if (is_used_up(use.up, rule.up_bytes, now) || is_used_up(use.down, rule.down_bytes, now)) return false;
    if (rule.requests_per_second == 0) return true;
    const double rate = rule.requests_per_second;
    if (!use.rate) use.rate.emplace(rate, rate, now);
    return use.rate->take(now);
}

bool Budgets::open(const policy::Rule* rule, MonoTime now) {
    if (all_used_up(now)) return false;
    if (rule == nullptr) return true;
    RuleUse& use = rules_[rule->id];
    if (rule->connections > 0 && use.connections >= rule->connections) return false;
    if (!may_go_on(use, *rule, now)) return false;
    ++use.connections;
    return true;
}

bool Budgets::request(const policy::Rule* rule, MonoTime now) {
    if (all_used_up(now)) return false;
    return rule == nullptr || may_go_on(rules_[rule->id], *rule, now);
}

void Budgets::close(const policy::Rule* rule) {
    if (rule == nullptr) return;
    if (const auto found = rules_.find(rule->id); found != rules_.end() && found->second.connections > 0)
        --found->second.connections;
}

std::chrono::nanoseconds Budgets::spend(const policy::Rule* rule, Direction direction, std::uint64_t bytes,
                                        MonoTime now) {
    const bool up = direction == Direction::up;
    const std::string way = up ? "up" : "down";
    const std::chrono::nanoseconds all =
        count(up ? up_ : down_, up ? limits_.up_bytes : limits_.down_bytes, way, bytes, now);
    if (rule == nullptr) return all;
    RuleUse& use = rules_[rule->id];
    return std::max(all, count(up ? use.up : use.down, up ? rule->up_bytes : rule->down_bytes,
                               way + " by rule " + rule->id, bytes, now));
}

std::chrono::nanoseconds Budgets::count(Use& use, std::uint64_t limit, const std::string& budget,
                                        std::uint64_t bytes, MonoTime now) {
    if (limit == 0) return {};
    begin_day(use, now);
    const bool was_used_up = use.bytes >= limit;
    use.bytes += bytes;
    if (!use.told_near && use.bytes >= limit / 5 * 4) {
        use.told_near = true;
        tell_(budget, "near", limit);
    }
    if (use.bytes < limit) return {};
    if (!was_used_up) {
        use.used_up = now;
        tell_(budget, "used up", limit);
    }
    if (now - use.used_up >= kToEnd)
        throw Error{Errc::exhausted, Fault::limit, "the budget of bytes is used up: " + budget};
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>{static_cast<double>(bytes) / kSlowBytesPerSecond});
}

}  // namespace oyat::egress
