#include "keeper/warm_pool.hpp"

#include <algorithm>
#include <utility>

namespace oyat::keeper {

WarmPool::Shelf* WarmPool::find(std::string_view digest) {
    const auto shelf = std::ranges::find(shelves_, digest, &Shelf::digest);
    return shelf == shelves_.end() ? nullptr : &*shelf;
}

void WarmPool::note_use(const std::string& digest) {
    if (size_.least == 0) return;
    const auto shelf = std::ranges::find(shelves_, digest, &Shelf::digest);
    if (shelf != shelves_.end()) {
        shelves_.splice(shelves_.begin(), shelves_, shelf);
        return;
    }
    shelves_.push_front({.digest = digest, .wanted = size_.least});
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
    if (shelf == nullptr) return std::nullopt;
    if (shelf->ids.empty()) {
        shelf->idle = 0;
        shelf->wanted = std::min(shelf->wanted + 1, std::max(size_.least, size_.most));
        return std::nullopt;
    }
    std::string id = std::move(shelf->ids.front());
    shelf->ids.pop_front();
    shelf->idle = std::min(shelf->idle, shelf->ids.size());
    return id;
}

void WarmPool::trim() {
    for (Shelf& shelf : shelves_) {
        std::size_t unneeded = std::min(shelf.idle, shelf.wanted - size_.least);
        shelf.wanted -= unneeded;
        for (; unneeded > 0 && !shelf.ids.empty(); --unneeded) {
            surplus_.push_back(std::move(shelf.ids.back()));
            shelf.ids.pop_back();
        }
        shelf.idle = shelf.ids.size();
    }
}

void WarmPool::remove(std::string_view id) {
    for (Shelf& shelf : shelves_) std::erase(shelf.ids, id);
    std::erase(surplus_, id);
}

std::optional<std::string> WarmPool::missing() const {
    const Shelf* poorest = nullptr;
    for (const Shelf& shelf : shelves_) {
        if (shelf.ids.size() < shelf.wanted &&
            (poorest == nullptr || shelf.ids.size() < poorest->ids.size())) {
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
