#include "core/snapshot_book.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "core/snapshot_name.hpp"

namespace oyat::core {
namespace {

constexpr const char* kKind = "snapshot";  // in the store

Result<SnapshotRecord> parse(const std::string& text) {
    boost::system::error_code failed;
    const boost::json::value json = boost::json::parse(text, failed);
    if (failed || !json.is_object()) return refuse(Errc::internal, "not a JSON object");
    return snapshot_record_from_json(json.get_object());
}

Error full(std::string reason) {
    return Error{Errc::exhausted, Fault::limit, std::move(reason)};
}

}  // namespace

Task<std::vector<std::string>> SnapshotBook::load(const std::vector<SnapshotFacts>& there) {
    std::set<std::string> unknown;
    for (const SnapshotFacts& each : there) unknown.insert(each.id);
    const std::vector<StoredItem> items = co_await store_.load_items(kKind);
    for (const StoredItem& item : items) {
        Result<SnapshotRecord> record = parse(item.body);
        if (!record) {
            // It may be a newer release's: what it names is left alone.
            log::error("a snapshot's record cannot be read",
                       {{"snapshot", item.key}, {"why", record.error().what()}});
            unknown.erase(item.key);
            continue;
        }
        if (unknown.erase(record->id) == 0) {
            log::warn("a snapshot is there no more", {{"snapshot", item.key}});
        } else {
            records_.emplace(record->id, *std::move(record));
            continue;
        }
        co_await store_.forget_item(kKind, item.key);
    }
    co_await settle_names();
    co_return std::vector<std::string>(unknown.begin(), unknown.end());
}

// A name is given to the new one before it is taken from the old, and we may have ended between the two.
Task<> SnapshotBook::settle_names() {
    std::map<std::tuple<std::string, std::string, std::string>, SnapshotRecord*> holders;
    std::vector<SnapshotRecord> nameless;
    for (auto& [id, record] : records_) {
        if (record.name.empty()) continue;
        SnapshotRecord*& holder = holders[{record.tenant, record.name, record.tag}];
        SnapshotRecord* older = &record;
        if (holder == nullptr || holder->created < record.created) std::swap(holder, older);
        if (older == nullptr) continue;
        older->name.clear();
        older->tag.clear();
        nameless.push_back(*older);
    }
    for (SnapshotRecord& record : nameless) co_await save(std::move(record));
}

void SnapshotBook::enter(const std::string& tenant) {
    std::uint64_t count = being_made_[tenant];
    std::uint64_t bytes = 0;
    for (const auto& [id, record] : records_) {
        if (record.tenant != tenant) continue;
        ++count;
        bytes += record.bytes();
    }
    if (count >= rules_.most) {
        throw full("limit of " + std::to_string(rules_.most) +
                   " snapshots reached; remove some, or raise snapshots.most");
    }
    if (bytes >= rules_.most_bytes) {
        throw full("snapshots hold " + std::to_string(bytes) + " bytes, and the limit is " +
                   std::to_string(rules_.most_bytes) + "; remove some, or raise snapshots.bytes");
    }
    ++being_made_[tenant];
}

void SnapshotBook::leave(const std::string& tenant) {
    std::uint32_t& count = being_made_[tenant];
    OYAT_ASSERT(count > 0);
    --count;
}

Task<> SnapshotBook::save(SnapshotRecord record) {
    return store_.save_item(kKind, record.id, boost::json::serialize(to_json(record)));
}

Task<> SnapshotBook::add(SnapshotRecord record) {
    co_await save(record);
    const SnapshotRecord* before =
        record.name.empty() ? nullptr : named(record.tenant, record.name, record.tag);
    std::optional<SnapshotRecord> nameless;
    if (before != nullptr) {
        nameless = *before;
        nameless->name.clear();
        nameless->tag.clear();
        records_.at(nameless->id) = *nameless;
    }
    records_.insert_or_assign(record.id, record);
    if (nameless) co_await save(*std::move(nameless));
}

Task<> SnapshotBook::change(SnapshotRecord record) {
    co_await save(record);
    // It may have been removed, or lost its name, meanwhile.
    const auto found = records_.find(record.id);
    if (found == records_.end()) {
        co_await store_.forget_item(kKind, record.id);
        co_return;
    }
    found->second.used = record.used;
    found->second.kept = record.kept;
    found->second.warned = record.warned;
}

Task<> SnapshotBook::forget(std::string id) {
    records_.erase(id);
    co_await store_.forget_item(kKind, std::move(id));
}

const SnapshotRecord* SnapshotBook::named(const std::string& tenant, const std::string& name,
                                          const std::string& tag) const {
    const auto found = std::ranges::find_if(records_, [&](const auto& each) {
        return each.second.tenant == tenant && each.second.name == name && each.second.tag == tag;
    });
    return found == records_.end() ? nullptr : &found->second;
}

const SnapshotRecord* SnapshotBook::find(const std::string& reference, const std::string& tenant) const {
    const std::string_view text = reference;
    const std::string id{text.substr(0, text.find(':'))};
    if (is_snapshot_id(id)) {
        const auto found = records_.find(id);
        if (found == records_.end() || found->second.tenant != tenant) return nullptr;
        return text.size() == id.size() || text.substr(id.size()) == ":default" ? &found->second : nullptr;
    }
    const Result<SnapshotName> name = SnapshotName::parse(reference, tenant);
    return name ? named(tenant, name->name, name->tag) : nullptr;
}

std::vector<SnapshotRecord> SnapshotBook::list(const SnapshotFilter& filter) const {
    std::optional<SnapshotName> wanted;
    if (!filter.name.empty()) {
        Result<SnapshotName> name = SnapshotName::parse(filter.name, filter.tenant);
        if (!name) return {};
        wanted = *std::move(name);
    }
    std::vector<SnapshotRecord> all;
    for (const auto& [id, record] : records_) {
        if (record.tenant != filter.tenant) continue;
        if (!filter.sandbox.empty() && record.sandbox != filter.sandbox) continue;
        if (wanted && (record.name != wanted->name || (wanted->with_tag && record.tag != wanted->tag)))
            continue;
        all.push_back(record);
    }
    std::ranges::sort(all, [](const SnapshotRecord& a, const SnapshotRecord& b) {
        return std::pair{b.created, a.id} < std::pair{a.created, b.id};
    });
    return all;
}

}  // namespace oyat::core
