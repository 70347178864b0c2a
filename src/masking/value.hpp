#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oyat::masking {

// A value that must not be seen, and the name that stands in its place: `[masked:NAME]`.
struct Value {
    std::string name;
    std::string value;
    bool operator==(const Value&) const = default;
};

// Shorter values are not looked for: they would be found in everything.
inline constexpr std::size_t kShortestValue = 8;

// Who knows what must not be seen of a sandbox: the vault of the values that the broker puts on the wire.
// Those that a client passed in plainly are known where they pass.
class ValueSource {
public:
    virtual ~ValueSource() = default;
    // All versions of all values that are in force for the sandbox, also those in their time of grace.
    [[nodiscard]] virtual std::vector<Value> values_of(const std::string& sandbox) const = 0;
    // Rises whenever an answer of values_of() changes.
    [[nodiscard]] virtual std::uint64_t generation() const = 0;
};

}  // namespace oyat::masking
