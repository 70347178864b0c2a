#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::secrets {

// What stands in a sandbox in the place of a secret: "oyat_ph_" and 22 random characters, or of the shape
// that a client library insists on. Worthless anywhere but in the request that its binding names.
class PlaceholderShape {
public:
    // "" is our own. "sk-{32}": {n} stands for n random characters of [A-Za-z0-9], the rest is of
    // [A-Za-z0-9._~-]. Refuses shapes of fewer than 64 random bits or more than 256 characters.
    [[nodiscard]] static Result<PlaceholderShape> parse(std::string_view text);

    // Of one seed and one purpose always the same: programs that start again find what they knew, and nothing
    // need be kept. Who does not know the seed can't tell one from random.
    [[nodiscard]] std::string make(std::string_view seed, std::string_view purpose) const;

private:
    explicit PlaceholderShape(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

// Whether the text holds something of our own shape, alive or dead.
[[nodiscard]] bool has_own_shape(std::string_view text);

}  // namespace oyat::secrets
