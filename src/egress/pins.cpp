#include "egress/pins.hpp"

#include <algorithm>

namespace oyat::egress {
namespace {

constexpr std::chrono::seconds kGrace{60};

}  // namespace

void Pins::pin(const IpAddress& address, const std::string& name, std::chrono::seconds ttl, MonoTime now) {
    if (const auto known = by_address_.find(address); known != by_address_.end()) {
        size_ -= std::erase_if(known->second, [&](const Pin& pin) { return pin.name == name; });
    }
    if (size_ >= kMax) make_room(now);
    by_address_[address].push_back({name, now + ttl + kGrace});
    ++size_;
}

std::string Pins::name_of(const IpAddress& address, MonoTime now) const {
    const auto known = by_address_.find(address);
    if (known == by_address_.end() || known->second.empty() || known->second.back().until < now) return "";
    return known->second.back().name;
}

std::vector<std::string> Pins::names_of(const IpAddress& address, MonoTime now) const {
    std::vector<std::string> names;
    const auto known = by_address_.find(address);
    if (known == by_address_.end()) return names;
    for (const Pin& pin : known->second) {
        if (pin.until >= now) names.push_back(pin.name);
    }
    return names;
}

std::vector<IpAddress> Pins::addresses_of(std::string_view name, MonoTime now) const {
    std::vector<IpAddress> addresses;
    for (const auto& [address, pins] : by_address_) {
        if (std::ranges::any_of(pins, [&](const Pin& pin) { return pin.name == name && pin.until >= now; }))
            addresses.push_back(address);
    }
    return addresses;
}

void Pins::make_room(MonoTime now) {
    MonoTime soonest = MonoTime::max();
    for (const auto& [address, pins] : by_address_) {
        for (const Pin& pin : pins) soonest = std::min(soonest, pin.until);
    }
    // All that have ended, and the next to end in any case.
    const MonoTime before = std::max(now, soonest);
    for (auto entry = by_address_.begin(); entry != by_address_.end();) {
        size_ -= std::erase_if(entry->second, [&](const Pin& pin) { return pin.until <= before; });
        entry = entry->second.empty() ? by_address_.erase(entry) : std::next(entry);
    }
}

}  // namespace oyat::egress
