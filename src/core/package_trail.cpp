#include "core/package_trail.hpp"

#include <algorithm>
#include <optional>

namespace oyat::core {
namespace {

using packages::Ecosystem;

struct Known {
    std::string_view word;
    Ecosystem ecosystem;
};
constexpr Known kInstallers[] = {
    {"pip", Ecosystem::python},    {"uv", Ecosystem::python},    {"poetry", Ecosystem::python},
    {"pipenv", Ecosystem::python}, {"conda", Ecosystem::python}, {"npm", Ecosystem::npm},
    {"pnpm", Ecosystem::npm},      {"yarn", Ecosystem::npm},     {"bun", Ecosystem::npm},
    {"apt", Ecosystem::debian},    {"cargo", Ecosystem::cargo},  {"go", Ecosystem::go},
};
// The public registries, by the ends of their names. Any other host may be a mirror of whatever.
constexpr Known kRegistries[] = {
    {"pypi.org", Ecosystem::python},
    {"files.pythonhosted.org", Ecosystem::python},
    {"anaconda.org", Ecosystem::python},
    {"registry.npmjs.org", Ecosystem::npm},
    {"registry.yarnpkg.com", Ecosystem::npm},
    {"deb.debian.org", Ecosystem::debian},
    {"security.debian.org", Ecosystem::debian},
    {"ubuntu.com", Ecosystem::debian},
    {"crates.io", Ecosystem::cargo},
    {"proxy.golang.org", Ecosystem::go},
    {"sum.golang.org", Ecosystem::go},
};

std::optional<Ecosystem> ecosystem_of_installer(std::string_view word) {
    for (const Known& each : kInstallers) {
        if (each.word == word) return each.ecosystem;
    }
    return std::nullopt;
}

std::optional<Ecosystem> ecosystem_of_host(std::string_view host) {
    for (const Known& each : kRegistries) {
        if (host.ends_with(each.word)) return each.ecosystem;
    }
    return std::nullopt;
}

std::string text_of(const Event& event, std::string_view field) {
    const boost::json::value* value = event.fields.if_contains(field);
    if (value == nullptr || !value->is_string()) return {};
    return {value->get_string().data(), value->get_string().size()};
}

std::string key_of(std::string_view ecosystem, std::string_view name, std::string_view version) {
    return std::string{ecosystem}.append(" ").append(name).append(" ").append(version);
}

}  // namespace

void PackageTrail::command_started(const std::string& command, std::string_view installer) {
    running_.emplace(command, installer);
    if (!installer.empty() && candidates_.size() < kMaxCommands) candidates_.emplace(command, installer);
}

void PackageTrail::command_ended(const std::string& command) {
    const auto ended = running_.find(command);
    if (ended == running_.end()) return;
    if (candidates_.contains(command)) dirty_ = true;
    running_.erase(ended);
}

void PackageTrail::registry_reached(std::string_view host) {
    dirty_ = true;
    if (!host.empty() && hosts_.size() < kMaxHosts) hosts_.emplace(host);
    for (const auto& [command, installer] : running_) {
        if (candidates_.size() < kMaxCommands) candidates_.emplace(command, installer);
    }
}

void PackageTrail::fetched(const Event& event) {
    const std::string host = text_of(event, "host");
    registry_reached(host);
    if (fetched_.size() >= kMaxFetched) return;
    fetched_.insert_or_assign(
        key_of(text_of(event, "ecosystem"), text_of(event, "name"), text_of(event, "version")),
        host.empty() ? text_of(event, "addr") : host);
}

bool PackageTrail::is_busy() const {
    return std::ranges::any_of(running_, [](const auto& each) { return !each.second.empty(); });
}

std::vector<std::string> PackageTrail::commands(Ecosystem ecosystem) const {
    std::vector<std::string> fitting, others;
    for (const auto& [command, installer] : candidates_) {
        const auto installs = ecosystem_of_installer(installer);
        if (installs == ecosystem) fitting.push_back(command);
        if (installer.empty()) others.push_back(command);
    }
    return fitting.empty() ? others : fitting;
}

std::vector<std::string> PackageTrail::sources(const packages::Package& package) const {
    const auto exact = fetched_.find(key_of(to_string(package.ecosystem), package.name, package.version));
    if (exact != fetched_.end()) return {exact->second};
    std::vector<std::string> all;
    for (const std::string& host : hosts_) {
        if (ecosystem_of_host(host).value_or(package.ecosystem) == package.ecosystem) all.push_back(host);
    }
    return all;
}

PackageTrail PackageTrail::take() {
    PackageTrail taken = *this;
    dirty_ = false;
    hosts_.clear();
    fetched_.clear();
    std::erase_if(candidates_, [this](const auto& each) { return !running_.contains(each.first); });
    return taken;
}

void PackageTrail::put_back(const PackageTrail& taken) {
    dirty_ = dirty_ || taken.dirty_;
    hosts_.insert(taken.hosts_.begin(), taken.hosts_.end());
    fetched_.insert(taken.fetched_.begin(), taken.fetched_.end());
    candidates_.insert(taken.candidates_.begin(), taken.candidates_.end());
}

}  // namespace oyat::core
