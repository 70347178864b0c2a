#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::policy {

// The one spelling of a host name that rules are compared with: lower case, one trailing dot removed, labels
// of 1 to 63 characters of [a-z0-9_-], 253 in all, at least one that is no number (so "127.1" and "0x7f.1"
// are no names). Anything else is refused, never cleaned: what two readers could understand differently must
// not pass.
[[nodiscard]] Result<std::string> canonical_host(std::string_view name);

// "a.test" (that name), "*.a.test" (names below it), "**.a.test" (it, and names below it) or "*" (every
// name).
class HostPattern {
public:
    [[nodiscard]] static Result<HostPattern> parse(std::string_view text);

    // `name` is canonical.
    [[nodiscard]] bool matches(std::string_view name) const;
    // Whether every name that the other stands for is one of this.
    [[nodiscard]] bool covers(const HostPattern& other) const;
    [[nodiscard]] bool is_any() const { return kind_ == Kind::any; }
    // The one name that it stands for; "" when it stands for more.
    [[nodiscard]] std::string_view exact() const { return kind_ == Kind::exact ? name_ : std::string_view{}; }
    // The name that all its names end with, "" for "*".
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::string text() const;

    bool operator==(const HostPattern&) const = default;

private:
    enum class Kind { exact, below, here_and_below, any };
    HostPattern(Kind kind, std::string name) : kind_{kind}, name_{std::move(name)} {}

    Kind kind_;
    std::string name_;
};

[[nodiscard]] bool matches_any(const std::vector<HostPattern>& patterns, std::string_view name);

}  // namespace oyat::policy
