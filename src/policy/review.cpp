#include "policy/review.hpp"

#include <algorithm>

namespace oyat::policy {
namespace {

// Whether every value that `narrow` lets through passes `wide`, too; an empty list lets everything through.
template <class T, class Covers>
bool covers(const std::vector<T>& wide, const std::vector<T>& narrow, Covers one_covers) {
    if (wide.empty()) return true;
    if (narrow.empty()) return false;
    return std::ranges::all_of(narrow, [&](const T& inner) {
        return std::ranges::any_of(wide, [&](const T& outer) { return one_covers(outer, inner); });
    });
}

// Whether the later rule is never asked, since the earlier one matches whatever it would. "No" where that is
// not plain to see.
bool hides(const Rule& earlier, const Rule& later) {
    if (earlier.expires || earlier.only_when_read) return false;
    if (earlier.action != Action::deny && earlier.require > later.require) return false;
    if (earlier.protocol != Protocol::any && earlier.protocol != Protocol::tcp &&
        earlier.protocol != later.protocol) {
        return false;
    }
    return covers(earlier.hosts, later.hosts, [](const auto& a, const auto& b) { return a.covers(b); }) &&
           covers(earlier.cidrs, later.cidrs, [](const auto& a, const auto& b) { return a.covers(b); }) &&
           covers(earlier.ports, later.ports,
                  [](const auto& a, const auto& b) { return a.first <= b.first && b.last <= a.last; }) &&
           covers(earlier.methods, later.methods, std::equal_to<>{}) &&
           covers(earlier.paths, later.paths,
                  [](const auto& a, const auto& b) { return a.text() == b.text(); }) &&
           covers(earlier.refs, later.refs,
                  [](const auto& a, const auto& b) { return a.text() == b.text(); });
}

bool is_closed(const Cidr& range, const Ground& ground) {
    const auto inside = [&](const Cidr& wide) { return wide.covers(range); };
    const auto touches = [&](const Cidr& open) { return open.covers(range) || range.covers(open); };
    return std::ranges::any_of(ground.closed, inside) && std::ranges::none_of(ground.opened, touches);
}

}  // namespace

std::vector<Remark> review(const Document& document, const Ground& ground, WallTime now) {
    std::vector<Remark> remarks;
    for (auto rule = document.rules.begin(); rule != document.rules.end(); ++rule) {
        const auto remark = [&](std::string sentence) { remarks.push_back({rule->id, std::move(sentence)}); };
        const auto hider = std::find_if(document.rules.begin(), rule,
                                        [&](const Rule& earlier) { return hides(earlier, *rule); });
        if (hider != rule) remark("can never match: rule " + hider->id + " before it matches all of it");
        if (rule->expires && *rule->expires <= now)
            remark("can never match: it ended at " + to_rfc3339(*rule->expires));
        if (rule->action == Action::ask) remark("nobody can be asked yet, so what would ask is refused");
        if (rule->only_when_read) {
            remark(
                "method not seen at hosts whose TLS is passed through unread; a rule with method or path for "
                "such a "
                "host has its requests read");
        }
        if (rule->action == Action::deny) continue;
        for (const Cidr& range : rule->cidrs) {
            if (is_closed(range, ground))
                remark("no effect: private range not opened (" + range.to_string() + ")");
        }
        if (rule->reads_requests() &&
            (rule->hosts.empty() || std::ranges::any_of(rule->hosts, &HostPattern::is_any))) {
            remark("has the requests to every host read, by interception where they are TLS");
        }
    }
    return remarks;
}

}  // namespace oyat::policy
