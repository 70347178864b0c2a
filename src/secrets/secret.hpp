#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace oyat::secrets {

// One value that a secret has or had. What is locked in `sealed` is opened for a moment when it is used.
struct SecretVersion {
    std::uint32_t number = 1;
    std::string sealed;
    WallTime created{};
    std::optional<WallTime> retires;  // an old one: known to the masker until then
};

// Something that sandboxes may use without having it. Its name is unique within the tenant.
struct Secret {
    std::string id;  // "sec_<16 hex>"
    std::string name;
    std::string tenant;
    std::map<std::string, std::string> metadata;
    std::string description;
    std::vector<std::string> hosts;       // not empty: bindings to other hosts are refused
    std::vector<SecretVersion> versions;  // oldest first, the last is in force
    WallTime created{};
    WallTime updated{};
    std::optional<WallTime> expires;
    bool revoked = false;

    [[nodiscard]] const SecretVersion& current() const { return versions.back(); }
};

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxValue = 64 * 1024;
// Shorter ones could not be masked: they would be found everywhere.
constexpr std::size_t kMinBrokered = 8;

// Names are lower-cased, of [a-z0-9_-], and do not begin like an id.
[[nodiscard]] Result<std::string> secret_name(std::string_view given);

// What a sealed value is locked to.
[[nodiscard]] std::string seal_label(const Secret& secret, std::uint32_t version);

[[nodiscard]] boost::json::object to_json(const Secret& secret);
[[nodiscard]] Result<Secret> secret_from_json(std::string_view text);

}  // namespace oyat::secrets
