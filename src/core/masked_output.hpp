#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/agent_channel.hpp"
#include "core/masks.hpp"

namespace oyat::core {

// What one command prints, as one plane may see it. A terminal is one stream, everything else two.
class MaskedOutput {
public:
    using Plane = const masking::Hidden& (Masks::*)(const std::string& sandbox);

    MaskedOutput(Masks& masks, std::string sandbox, Plane plane)
        : masks_{masks}, sandbox_{std::move(sandbox)}, plane_{plane} {}

    // Nothing is hidden, and never was in what has come so far: bytes may pass as they are.
    [[nodiscard]] bool passes_all();
    // What is decided of the stream, these bytes included.
    [[nodiscard]] std::string feed(OutputChannel channel, std::string_view bytes);
    // Something is held back that may be released after kHoldBack.
    [[nodiscard]] bool holds_little() const;
    static constexpr Millis kHoldBack{20};  // a prompt must not stall
    [[nodiscard]] std::string release(OutputChannel channel);
    [[nodiscard]] std::string finish(OutputChannel channel);
    [[nodiscard]] masking::Tally tally() const;

private:
    std::optional<masking::OutputMasker>& stream(OutputChannel channel) {
        return channel == OutputChannel::err ? err_ : out_;
    }
    void keep_up();

    Masks& masks_;
    const std::string sandbox_;
    const Plane plane_;
    std::uint64_t version_ = 0;                 // of what the streams are searched for
    std::optional<masking::OutputMasker> out_;  // both or none
    std::optional<masking::OutputMasker> err_;
};

}  // namespace oyat::core
