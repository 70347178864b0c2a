#include "policy/vocabulary.hpp"

#include <algorithm>
#include <charconv>

#include "base/throwing.hpp"
#include "policy/shipped.hpp"

namespace oyat::policy {
namespace {

// Mirrors may listen anywhere, so each gets a rule of its own before the one for the usual ports.
Rule rule_for(const Mirror& mirror, std::size_t number) {
    Rule rule{
        .id = "mirror-" + std::to_string(number), .category = "package-registries", .action = Action::allow};
    if (mirror.host) rule.hosts.push_back(*mirror.host);
    if (mirror.address) rule.cidrs.push_back(or_throw(Cidr::parse(mirror.address->to_string())));
    rule.ports.push_back({mirror.port, mirror.port});
    return rule;
}

}  // namespace

std::optional<Mirror> Mirror::of_url(std::string_view url) {
    Mirror mirror;
    if (url.starts_with("http://")) {
        mirror.port = 80;
        url.remove_prefix(7);
    } else if (url.starts_with("https://")) {
        url.remove_prefix(8);
    } else {
        return std::nullopt;
    }
    std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
        authority.remove_prefix(at + 1);
    std::string_view host = authority;
    const std::size_t colon = authority.rfind(':');
    if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
        host = authority.substr(0, colon);
        const char* end = authority.data() + authority.size();
        const auto [stop, failed] = std::from_chars(authority.data() + colon + 1, end, mirror.port);
        if (failed != std::errc{} || stop != end || mirror.port == 0) return std::nullopt;
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (const Result<IpAddress> address = IpAddress::parse(host)) {
        mirror.address = *address;
    } else if (Result<HostPattern> name = HostPattern::parse(host); name && !name->exact().empty()) {
        mirror.host = *std::move(name);
    } else {
        return std::nullopt;
    }
    return mirror;
}

Vocabulary::Vocabulary(const OperatorWords& added) {
    for (const ShippedSet& set : shipped_host_sets()) {
        std::vector<HostPattern>& hosts = hosts_[std::string{set.name}];
        for (const std::string_view host : set.members) hosts.push_back(or_throw(HostPattern::parse(host)));
    }
    for (const ShippedSet& set : shipped_path_sets())
        paths_[std::string{set.name}] = {set.members.begin(), set.members.end()};
    for (const Mirror& mirror : added.mirrors) {
        if (mirror.host) hosts_["@registries"].push_back(*mirror.host);
    }
    std::ranges::copy(added.git_hosts, std::back_inserter(hosts_["@git-hosts"]));

    for (const ShippedPreset& preset : shipped_presets()) {
        Document document = or_throw(document_from_json(preset.json, *this));
        if (preset.name == "packages-only") {
            for (const Mirror& mirror : added.mirrors)
                document.rules.push_back(rule_for(mirror, document.rules.size()));
        }
        presets_[std::string{preset.name}] = std::make_shared<const Document>(std::move(document));
    }
}

const std::vector<HostPattern>* Vocabulary::hosts(std::string_view set) const {
    const auto found = hosts_.find(set);
    return found == hosts_.end() ? nullptr : &found->second;
}

const std::vector<std::string>* Vocabulary::paths(std::string_view set) const {
    const auto found = paths_.find(set);
    return found == paths_.end() ? nullptr : &found->second;
}

DocumentPtr Vocabulary::preset(std::string_view name) const {
    const auto found = presets_.find(name);
    return found == presets_.end() ? nullptr : found->second;
}

}  // namespace oyat::policy
