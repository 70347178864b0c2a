#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/secret_binding.hpp"
#include "policy/names.hpp"
#include "policy/paths.hpp"
#include "secrets/format.hpp"
#include "secrets/placeholder.hpp"

namespace oyat::secrets {

struct RequestView;

// A binding that was checked: what somebody asked for, made into rules.
class Binding {
public:
    // Refuses (invalid_argument) whatever could not be enforced: hosts wider than one registered domain,
    // fields that say where a message ends, names that cannot be variables, a place without its name.
    [[nodiscard]] static Result<Binding> parse(core::SecretBinding asked);

    [[nodiscard]] const core::SecretBinding& asked() const { return asked_; }
    // The secret, "" for a set_header that names none.
    [[nodiscard]] const std::string& secret() const { return asked_.secret; }
    [[nodiscard]] const std::vector<policy::HostPattern>& hosts() const { return hosts_; }
    [[nodiscard]] const Format& format() const { return format_; }  // empty: replace the placeholder alone
    [[nodiscard]] const PlaceholderShape& shape() const { return shape_; }
    [[nodiscard]] bool is_injected() const { return asked_.place == core::SecretPlace::set_header; }
    // Every secret that it may put into a request.
    [[nodiscard]] std::vector<std::string> secrets() const;
    // The variables that hold its placeholder.
    [[nodiscard]] std::vector<std::string> variables() const;

    [[nodiscard]] bool covers(const RequestView& request) const;
    // Whether its placeholder is made for this command; true for bindings of the whole sandbox.
    [[nodiscard]] bool fits_command(const std::vector<std::string>& argv) const;
    [[nodiscard]] bool is_for_commands() const { return !asked_.commands.empty(); }

    // Whether some request could be both's, in the same place of it.
    [[nodiscard]] bool contradicts(const Binding& other) const;

private:
    Binding(core::SecretBinding asked, Format format, PlaceholderShape shape)
        : asked_{std::move(asked)}, format_{std::move(format)}, shape_{std::move(shape)} {}

    core::SecretBinding asked_;
    Format format_;
    PlaceholderShape shape_;
    std::vector<policy::HostPattern> hosts_;
    std::vector<policy::PathPattern> paths_;
};

}  // namespace oyat::secrets
