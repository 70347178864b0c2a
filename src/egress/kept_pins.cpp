#include "egress/kept_pins.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/log.hpp"

namespace oyat::egress {
namespace {

constexpr const char* kKind = "pins";

}  // namespace

Task<> KeptPins::load() {
    for (core::StoredItem& item : co_await store_.load_items(kKind)) {
        boost::system::error_code failed;
        const boost::json::value pins = boost::json::parse(item.body, failed);
        saved_.insert(item.key);
        if (failed || !pins.is_array()) {
            log::error("the pinned names of a sandbox cannot be read", {{"sandbox", item.key}});
            continue;
        }
        untaken_.emplace(std::move(item.key), pins.get_array());
    }
}

boost::json::array KeptPins::take(const std::string& sandbox) {
    const auto found = untaken_.extract(sandbox);
    return found ? std::move(found.mapped()) : boost::json::array{};
}

Task<> KeptPins::save(std::string sandbox, boost::json::array pins) {
    saved_.insert(sandbox);
    co_await store_.save_item(kKind, std::move(sandbox), boost::json::serialize(pins));
}

Task<> KeptPins::forget(std::string sandbox) {
    if (saved_.erase(sandbox) > 0) co_await store_.forget_item(kKind, std::move(sandbox));
}

Task<> KeptPins::forget_untaken() {
    for (const auto& [sandbox, pins] : std::exchange(untaken_, {})) co_await forget(sandbox);
}

}  // namespace oyat::egress
