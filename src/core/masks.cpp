#include "core/masks.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <utility>

namespace oyat::core {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostValues = 256;
constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kEndedKept = 64;

// What clients and programs don't choose, or what was masked on its way: docs/internals/events.md.
constexpr std::array<std::string_view, 22> kLeft{
    "stdout", "stderr",  "pty",    "command",  "requested", "addr",           "rule", "layer",
    "reason", "engine",  "kernel", "boundary", "limits",    "protocol",       "key",  "code",
    "phases", "masking", "usage",  "verdict",  "resources", "template_digest"};

bool is_left(std::string_view field) {
    return std::ranges::find(kLeft, field) != kLeft.end();
}

void hide_in(json::value& value, const masking::Hidden& hidden) {
    if (auto* text = value.if_string()) {
        masking::Tally tally;
        const std::string shown = hidden.in({text->data(), text->size()}, tally);
        if (tally.count > 0) *text = json::string{shown};
    } else if (auto* array = value.if_array()) {
        for (json::value& each : *array) hide_in(each, hidden);
    } else if (auto* object = value.if_object()) {
        for (auto& [name, member] : *object) hide_in(member, hidden);
    }
}

// Drops the oldest of too many.
void keep_in_bounds(std::vector<masking::Value>& values) {
    std::size_t bytes = 0;
    std::size_t kept = 0;
    for (auto each = values.rbegin(); each != values.rend() && kept < kMostValues; ++each, ++kept) {
        bytes += each->value.size();
        if (bytes > kMostBytes) break;
    }
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(kept));
}

}  // namespace

Masks::Masks(MaskingConfig config)
    : config_{std::move(config)},
      house_{.values = nullptr, .forms = config_.forms},
      house_clients_{.values = nullptr, .forms = config_.client_forms ? config_.forms : nullptr} {}

void Masks::learn(const std::string& sandbox, std::vector<masking::Value> values) {
    const std::scoped_lock lock{changing_};
    Entry& entry = sandboxes_[sandbox];
    for (masking::Value& each : values) {
        if (std::ranges::find(entry.plain, each) != entry.plain.end()) continue;
        entry.plain.push_back(std::move(each));
        entry.changed = true;
    }
    keep_in_bounds(entry.plain);
}

void Masks::forget(const std::string& sandbox) {
    const std::scoped_lock lock{changing_};
    ended_.push_back(sandbox);
    if (ended_.size() <= kEndedKept) return;
    sandboxes_.erase(ended_.front());
    ended_.pop_front();
}

// Null for a sandbox that nothing was learnt of. Built when it is asked for: a sandbox in which nothing
// happens costs nothing.
Masks::Entry* Masks::built(const std::string& sandbox) {
    const auto found = sandboxes_.find(sandbox);
    if (found == sandboxes_.end()) return nullptr;
    Entry& entry = found->second;
    if (vault_ != nullptr && entry.vault_generation != vault_->generation()) {
        entry.vault_generation = vault_->generation();
        std::vector<masking::Value> brokered = vault_->values_of(sandbox);
        if (brokered != entry.brokered) {
            entry.brokered = std::move(brokered);
            entry.changed = true;
        }
    }
    if (entry.changed) build(entry);
    return &entry;
}

void Masks::build(Entry& entry) {
    std::vector<masking::Value> values = entry.brokered;
    values.insert(values.end(), entry.plain.begin(), entry.plain.end());
    masking::Hidden record{.values = masking::Patterns::of(values), .forms = config_.forms};
    masking::Hidden clients = house_clients_;
    clients.values = config_.client_variables ? record.values : masking::Patterns::of(entry.brokered);
    const std::scoped_lock lock{changing_};
    entry.record = std::move(record);
    entry.clients = std::move(clients);
    entry.changed = false;
    ++entry.version;
}

const masking::Hidden& Masks::from_record(const std::string& sandbox) {
    const Entry* entry = built(sandbox);
    return entry != nullptr ? entry->record : house_;
}

const masking::Hidden& Masks::from_clients(const std::string& sandbox) {
    const Entry* entry = built(sandbox);
    return entry != nullptr ? entry->clients : house_clients_;
}

std::uint64_t Masks::version(const std::string& sandbox) {
    const Entry* entry = built(sandbox);
    return entry != nullptr ? entry->version : 0;
}

void Masks::hide(Event& event) {
    const masking::Hidden& hidden = from_record(event.sandbox);
    if (hidden.nothing()) return;
    for (auto& [name, value] : event.fields) {
        if (!is_left(name)) hide_in(value, hidden);
    }
}

std::string Masks::hide(const std::string& sandbox, std::string_view text) {
    masking::Tally tally;
    return from_record(sandbox).in(text, tally);
}

Error Masks::hide(const std::string& sandbox, const Error& error) {
    return Error{error.code(), error.fault(), hide(sandbox, error.message())}
        .of_limit(error.limit().data())
        .recorded_as(error.event());
}

std::string Masks::in_log(std::string_view sandbox, std::string_view text) const {
    masking::Hidden hidden = house_;
    {
        const std::scoped_lock lock{changing_};
        const auto found = sandboxes_.find(sandbox);
        if (found != sandboxes_.end() && found->second.version > 0) hidden = found->second.record;
    }
    masking::Tally tally;
    return hidden.in(text, tally);
}

}  // namespace oyat::core
