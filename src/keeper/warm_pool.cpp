#include "keeper/warm_pool.hpp"

#include <algorithm>
#include <utility>

namespace oyat::keeper {

WarmPool::Shelf* WarmPool::find(std::string_view digest) {
    const auto shelf = std::ranges::find(shelves_, digest, &Shelf::digest);
    return shelf == shelves_.end() ? nullptr : &*shelf;
}

void WarmPool::note_use(const std::string& digest) {
    if (wanted_ == 0) return;
    const auto shelf = std::ranges::find(shelves_, digest, &Shelf::digest);
    if (shelf != shelves_.end()) {
        shelves_.splice(shelves_.begin(), shelves_, shelf);
        return;
    }
    shelves_.push_front({.digest = digest, .ids = {}});
    if (shelves_.size() > kMaxTemplates) forget(std::string{shelves_.back().digest});
}

void WarmPool::forget(std::string_view digest) {
    const auto shelf = std::ranges::find(shelves_, digest, &Shelf::digest);
    if (shelf == shelves_.end()) return;
    std::ranges::move(shelf->ids, std::back_inserter(surplus_));
    shelves_.erase(shelf);
}

void WarmPool::put(const std::string& digest, std::string id) {
    if (Shelf* shelf = find(digest)) {
        shelf->ids.push_back(std::move(id));
    } else {
        surplus_.push_back(std::move(id));
    }
}

std::optional<std::string> WarmPool::take(std::string_view digest) {
    Shelf* shelf = find(digest);
    if (shelf == nullptr || shelf->ids.empty()) return std::nullopt;
    std::string id = std::move(shelf->ids.front());
    shelf->ids.pop_front();
    return id;
}

void WarmPool::remove(std::string_view id) {
    for (Shelf& shelf : shelves_) std::erase(shelf.ids, id);
    std::erase(surplus_, id);
}

std::optional<std::string> WarmPool::missing() const {
    const Shelf* poorest = nullptr;
    for (const Shelf& shelf : shelves_) {
        if (shelf.ids.size() < wanted_ && (poorest == nullptr || shelf.ids.size() < poorest->ids.size())) {
            poorest = &shelf;
        }
    }
    if (poorest == nullptr) return std::nullopt;
    return poorest->digest;
}

std::deque<std::string> WarmPool::surplus() {
    return std::exchange(surplus_, {});
}

std::size_t WarmPool::size() const noexcept {
    std::size_t all = surplus_.size();
    for (const Shelf& shelf : shelves_) all += shelf.ids.size();
    return all;
}

}  // namespace oyat::keeper
