#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "packages/package.hpp"

namespace oyat::core {

// By what packages may have come into a sandbox since it was last looked through: the commands that ran
// meanwhile, and the registries that it reached. While there is nothing here, there is nothing to look for.
class PackageTrail {
public:
    // `installer`: as installer_of() says, "" for none.
    void command_started(const std::string& command, std::string_view installer);
    void command_ended(const std::string& command);
    // A connection or a request to a package registry. `host` may be an address.
    void registry_reached(std::string_view host);
    // What a request asked for that oyatd read.
    void fetched(const Event& event);

    // Packages may have come, and none of those who bring them is at it any more.
    [[nodiscard]] bool is_due() const { return dirty_ && !is_busy(); }
    [[nodiscard]] bool is_dirty() const { return dirty_ || is_busy(); }

    // By whom a package of this ecosystem may have come: the installers of that ecosystem, else whoever ran
    // when a registry was reached, else nobody.
    [[nodiscard]] std::vector<std::string> commands(packages::Ecosystem ecosystem) const;
    // From where: the host that it was asked of, else the registries of that ecosystem that were reached.
    [[nodiscard]] std::vector<std::string> sources(const packages::Package& package) const;

    // What there is, for one look: what comes meanwhile is the next one's.
    [[nodiscard]] PackageTrail take();
    // Nothing came of that look.
    void put_back(const PackageTrail& taken);

private:
    static constexpr std::size_t kMaxCommands = 64, kMaxHosts = 16, kMaxFetched = 10'000;

    [[nodiscard]] bool is_busy() const;

    std::map<std::string, std::string_view> running_;     // command, by what it installs
    std::map<std::string, std::string_view> candidates_;  // of those, and of those that have ended
    std::set<std::string, std::less<>> hosts_;
    std::map<std::string, std::string> fetched_;  // "ECOSYSTEM NAME VERSION", by host
    bool dirty_ = false;
};

}  // namespace oyat::core
