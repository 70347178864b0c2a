#include "api/e2b/create_once.hpp"

#include <algorithm>

#include "base/defer.hpp"

namespace oyat::e2b {
namespace {

constexpr auto kKeptFor = std::chrono::hours{24};
constexpr std::size_t kMostKept = 10'000;
constexpr std::size_t kMaxKey = 255;

}  // namespace

bool is_idempotency_key(std::string_view text) {
    return !text.empty() && text.size() <= kMaxKey && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

Task<std::string> CreateOnce::id_for(std::string tenant, std::string key, Make make) {
    const std::string name = std::move(tenant) + "/" + std::move(key);
    while (true) {
        const auto found = entries_.find(name);
        if (found == entries_.end()) break;
        const std::shared_ptr<Entry> entry = found->second;
        if (entry->id.empty()) {
            co_await entry->done.wait();
            continue;  // it may have failed, and then it is our turn
        }
        if (clock_.mono() - entry->made < kKeptFor) co_return entry->id;
        entries_.erase(found);
    }
    forget_old();
    const auto entry = std::make_shared<Entry>();
    entry->made = clock_.mono();
    entries_.emplace(name, entry);
    const Defer done{[this, &entry, &name] {
        if (entry->id.empty()) entries_.erase(name);
        entry->done.notify_all();
    }};
    entry->id = co_await make();
    co_return entry->id;
}

void CreateOnce::forget_old() {
    if (entries_.size() < kMostKept) return;
    const auto oldest = std::ranges::min_element(
        entries_, [](const auto& a, const auto& b) { return a.second->made < b.second->made; });
    if (!oldest->second->id.empty()) entries_.erase(oldest);
}

}  // namespace oyat::e2b
