#include "egress/pins.hpp"

#include <algorithm>
#include <span>

namespace oyat::egress {
namespace {

constexpr std::chrono::seconds kGrace{60};
constexpr std::chrono::seconds kLongest{300 + 60};  // the longest lifetime of an answer and the grace

}  // namespace

void Pins::pin(const IpAddress& address, const std::string& name, std::chrono::seconds ttl, MonoTime now) {
    insert(address, name, at(now) + ttl + kGrace);
    changed_.open();
}

std::vector<std::string> Pins::names_of(const IpAddress& address, MonoTime now) const {
    std::vector<std::pair<std::uint64_t, const std::string*>> found;
    const bool held = held_.contains(address);
    for (auto pin = pins_.lower_bound({address, ""}); pin != pins_.end() && pin->first.first == address;
         ++pin) {
        if (held || !ended(pin->second, now)) found.emplace_back(pin->second.order, &pin->first.second);
    }
    std::ranges::sort(found);
    std::vector<std::string> names;
    for (const auto& [order, name] : found) names.push_back(*name);
    return names;
}

std::vector<IpAddress> Pins::addresses_of(std::string_view name, MonoTime now) const {
    std::vector<std::pair<std::uint64_t, IpAddress>> found;
    for (const auto& [place, pin] : pins_) {
        if (place.second == name && !ended(pin, now)) found.emplace_back(pin.order, place.first);
    }
    std::ranges::sort(found, std::greater{});
    std::vector<IpAddress> addresses;
    for (const auto& [order, address] : found) addresses.push_back(address);
    return addresses;
}

std::string Pins::name_of(const IpAddress& address, MonoTime now) const {
    const std::vector<std::string> names = names_of(address, now);
    return names.empty() ? "" : names.back();
}

Pins::Hold::Hold(Pins& pins, const IpAddress& address, MonoTime now) : pins_{pins}, address_{address} {
    // What has ended before must not come back by being held.
    if (!pins_.held_.contains(address)) {
        for (auto pin = pins_.pins_.lower_bound({address, ""});
             pin != pins_.pins_.end() && pin->first.first == address;) {
            const auto here = pin++;
            if (pins_.ended(here->second, now)) pins_.drop(here);
        }
    }
    ++pins_.held_[address];
}

Pins::Hold::~Hold() {
    const auto held = pins_.held_.find(address_);
    if (--held->second == 0) pins_.held_.erase(held);
}

void Pins::pause(MonoTime now) {
    paused_since_ = std::min(paused_since_, now);
}

void Pins::resume(MonoTime now) {
    if (paused_since_ == MonoTime::max()) return;
    paused_for_ += now - paused_since_;
    paused_since_ = MonoTime::max();
}

MonoTime Pins::at(MonoTime now) const {
    return std::min(now, paused_since_) - std::chrono::duration_cast<MonoTime::duration>(paused_for_);
}

boost::json::array Pins::to_json(MonoTime now) {
    changed_.shut();
    std::vector<ByPlace::const_iterator> living;
    for (auto pin = pins_.begin(); pin != pins_.end(); ++pin) {
        if (held_.contains(pin->first.first) || !ended(pin->second, now)) living.push_back(pin);
    }
    std::ranges::sort(living, {}, [](const auto& pin) { return pin->second.order; });
    const std::size_t left_out = living.size() > kMaxSaved ? living.size() - kMaxSaved : 0;
    boost::json::array saved;
    for (const auto& pin : std::span{living}.subspan(left_out)) {
        const auto left = std::chrono::ceil<std::chrono::seconds>(pin->second.until - at(now));
        saved.push_back(
            {pin->first.first.to_string(), pin->first.second, std::max<std::int64_t>(left.count(), 0)});
    }
    return saved;
}

void Pins::restore(const boost::json::array& saved, MonoTime now) {
    for (const boost::json::value& each : saved) {
        const boost::json::array* pin = each.if_array();
        if (pin == nullptr || pin->size() != 3) continue;
        const boost::json::string* text = (*pin)[0].if_string();
        const boost::json::string* name = (*pin)[1].if_string();
        const std::int64_t* left = (*pin)[2].if_int64();
        if (text == nullptr || name == nullptr || left == nullptr) continue;
        const Result<IpAddress> address = IpAddress::parse(std::string_view{*text});
        if (!address) continue;
        // Nobody knows how long nobody was there: the sandbox gets the grace again.
        const std::chrono::seconds rest = std::clamp(std::chrono::seconds{*left}, kGrace, kLongest);
        insert(*address, std::string{*name}, at(now) + rest);
        changed_.open();
    }
}

void Pins::insert(const IpAddress& address, const std::string& name, MonoTime until) {
    if (const auto known = pins_.find({address, name}); known != pins_.end()) drop(known);
    bound_names(address);
    while (pins_.size() >= kMax) drop(by_end_.begin()->second);
    const auto pin = pins_.emplace(std::pair{address, name}, Pin{until, ++lookups_}).first;
    by_end_.emplace(until, pin);
}

void Pins::bound_names(const IpAddress& address) {
    auto oldest = pins_.end();
    std::size_t count = 0;
    for (auto pin = pins_.lower_bound({address, ""}); pin != pins_.end() && pin->first.first == address;
         ++pin) {
        if (count++ == 0 || pin->second.order < oldest->second.order) oldest = pin;
    }
    if (count >= kMaxNames) drop(oldest);
}

void Pins::drop(ByPlace::iterator pin) {
    const auto [first, last] = by_end_.equal_range(pin->second.until);
    by_end_.erase(std::find_if(first, last, [&](const auto& place) { return place.second == pin; }));
    pins_.erase(pin);
}

}  // namespace oyat::egress
