#include "core/package_book.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>

#include "core/json_text.hpp"

namespace oyat::core {
namespace {

namespace json = boost::json;
using packages::Package;

std::vector<std::string> texts(const json::value* value) {
    std::vector<std::string> all;
    if (value == nullptr || !value->is_array()) return all;
    for (const json::value& each : value->get_array()) {
        if (each.is_string()) all.emplace_back(each.get_string().data(), each.get_string().size());
    }
    return all;
}

}  // namespace

PackageBook::Change PackageBook::take(packages::Listing listing, const PackageTrail& trail, WallTime now) {
    Change change;
    complete_ = listing.complete;
    odd_ = listing.odd;
    std::map<Package, Entry> found;
    for (Package& package : listing.packages) {
        if (const auto known = known_.find(package); known != known_.end()) {
            found.insert(known_.extract(known));
            continue;
        }
        Entry entry{
            .seen = now, .commands = trail.commands(package.ecosystem), .sources = trail.sources(package)};
        const auto [at, is_new] = found.emplace(std::move(package), std::move(entry));
        if (is_new) {
            change.added.push_back({.package = at->first,
                                    .seen = now,
                                    .commands = at->second.commands,
                                    .sources = at->second.sources});
        }
    }
    if (complete_) {
        for (const auto& [package, entry] : known_) change.removed.push_back(package);
        known_.clear();
    }
    known_.merge(found);
    // Of looks that are not complete each may find others.
    while (known_.size() > packages::Listing::kMaxPackages) known_.erase(std::prev(known_.end()));
    return change;
}

std::vector<InstalledPackage> PackageBook::all() const {
    std::vector<InstalledPackage> all;
    for (const auto& [package, entry] : known_) {
        all.push_back(
            {.package = package, .seen = entry.seen, .commands = entry.commands, .sources = entry.sources});
    }
    return all;
}

// The packages are kept in the form in which they come, which is checked when it is read; the rest beside it.
std::string PackageBook::to_text() const {
    packages::Listing listing{.packages = {}, .complete = complete_, .odd = odd_};
    json::array rest;
    for (const auto& [package, entry] : known_) {
        listing.packages.push_back(package);
        rest.push_back({{"seen", unix_millis(entry.seen)},
                        {"commands", json_texts(entry.commands)},
                        {"sources", json_texts(entry.sources)}});
    }
    return json::serialize(json::object{{"packages", packages::to_text(listing)}, {"rest", std::move(rest)}});
}

void PackageBook::restore(std::string_view text) {
    boost::system::error_code failed;
    const json::value whole = json::parse(text, failed);
    if (failed || !whole.is_object()) return;
    const json::value* listed = whole.get_object().if_contains("packages");
    const json::value* rest = whole.get_object().if_contains("rest");
    if (listed == nullptr || !listed->is_string() || rest == nullptr || !rest->is_array()) return;
    Result<packages::Listing> listing = packages::read_listing(listed->get_string());
    if (!listing || listing->packages.size() > rest->get_array().size()) return;
    complete_ = listing->complete;
    odd_ = listing->odd;
    for (std::size_t at = 0; at < listing->packages.size(); ++at) {
        const json::object* entry = rest->get_array()[at].if_object();
        if (entry == nullptr) continue;
        const json::value* seen = entry->if_contains("seen");
        known_.emplace(
            std::move(listing->packages[at]),
            Entry{.seen = from_unix_millis(seen != nullptr && seen->is_int64() ? seen->get_int64() : 0),
                  .commands = texts(entry->if_contains("commands")),
                  .sources = texts(entry->if_contains("sources"))});
    }
}

}  // namespace oyat::core
