#include "core/templates.hpp"

#include <algorithm>

namespace oyat::core {
namespace {

// "base", "base:latest" and "base:default" are the newest of that name; "base:3fa9c1d2" and "sha256:3fa9..."
// name one by the digits of its digest, at least eight of them.
const TemplateFacts* look_up(const std::vector<TemplateFacts>& known, std::string_view reference) {
    std::string_view name = reference;
    std::string_view digits;
    if (const std::size_t colon = reference.find(':'); colon != std::string_view::npos) {
        name = reference.substr(0, colon);
        digits = reference.substr(colon + 1);
        if (name == "sha256") name = {};
        if (digits.empty()) return nullptr;
        if (!name.empty() && (digits == "latest" || digits == "default")) digits = {};
        if (!digits.empty() && digits.size() < 8) return nullptr;
    }
    if (name.empty() && digits.empty()) return nullptr;

    const TemplateFacts* found = nullptr;
    for (const TemplateFacts& each : known) {
        if (!name.empty() && each.name != name) continue;
        if (!std::string_view{each.digest}
                 .substr(std::min<std::size_t>(7, each.digest.size()))
                 .starts_with(digits)) {
            continue;
        }
        if (found == nullptr || each.created > found->created) found = &each;
    }
    return found;
}

}  // namespace

Task<> Templates::refresh() {
    known_ = co_await keeper_.templates();
}

bool Templates::knows(const std::string& reference) const {
    return look_up(known_, reference) != nullptr;
}

Task<TemplateFacts> Templates::resolve(std::string reference) {
    if (const TemplateFacts* found = look_up(known_, reference)) co_return *found;
    co_await refresh();
    if (const TemplateFacts* found = look_up(known_, reference)) co_return *found;
    throw Error{
        Errc::not_found, Fault::client,
        "template '" + reference + "' is not on this machine; `oyat template ls` shows those that are"};
}

}  // namespace oyat::core
