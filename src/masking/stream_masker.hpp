#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "masking/cover.hpp"
#include "masking/patterns.hpp"
#include "masking/tally.hpp"

namespace oyat::masking {

// Takes the values out of one stream, chunk by chunk. Bytes are held back only while they begin a value: what
// comes out does not depend on where the chunks were cut, unless the owner asks for release().
class StreamMasker {
public:
    explicit StreamMasker(std::shared_ptr<const Patterns> patterns) : patterns_{std::move(patterns)} {}

    // Appends to `out` what is decided.
    void feed(std::string_view bytes, std::string& out);

    // Held back, and so short that it is more likely a prompt than a value: the owner may release it after
    // 20 ms.
    [[nodiscard]] bool holds_little() const { return !held_.empty() && depth() < kMuch; }
    // Gives out what is held, if it is little. When the rest of a value follows, that is still taken out.
    void release(std::string& out);

    // The end of the stream. A beginning of a value that is not little becomes `[masked:?]`.
    void finish(std::string& out);

    // Values came or went: what is held back is judged anew.
    void use(std::shared_ptr<const Patterns> patterns);

    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    static constexpr std::size_t kMuch = 8;

    [[nodiscard]] std::size_t depth() const { return patterns_->automaton().depth(state_); }
    void search(std::string_view text, std::size_t from);

    std::shared_ptr<const Patterns> patterns_;  // shared by the streams of a sandbox
    Automaton::State state_ = Automaton::kStart;
    std::string held_;  // read, not written yet
    Cover cover_;       // of held_
    Tally tally_;
};

// A whole text at once.
[[nodiscard]] std::string masked(const std::shared_ptr<const Patterns>& patterns, std::string_view text,
                                 Tally& tally);

}  // namespace oyat::masking
