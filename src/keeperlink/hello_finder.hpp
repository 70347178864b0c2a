#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::keeperlink {

// The beginning of a connection. An agent behind a socket says HELLO first. What comes out of the port of a
// virtual machine may begin with the rest of what was on its way to an earlier host, and the HELLO that
// counts is the one with the number that we knocked with. Pure; the bytes are hostile.
class HelloFinder {
public:
    static constexpr std::size_t kMostSkipped = std::size_t{4} << 20;

    explicit HelloFinder(std::uint64_t number) : number_{number} {}

    // Nothing while it has not come. A refusal is for good.
    [[nodiscard]] Result<std::optional<wire::Hello>> feed(std::string_view bytes);
    // What came after the HELLO.
    [[nodiscard]] std::string take_rest() { return std::move(bytes_); }

private:
    std::uint64_t number_;
    std::string bytes_;
    std::size_t skipped_ = 0;
};

}  // namespace oyat::keeperlink
