#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "masking/patterns.hpp"

namespace oyat::masking {

// Takes values out of one stream whose length has been announced: each byte of a value becomes '*'. Bytes are
// held back while they begin a value; a beginning of less than eight is given out at once, since a stream may
// stand still there, and the rest of that value is still taken out.
class SameLengthMasker {
public:
    explicit SameLengthMasker(std::shared_ptr<const Patterns> patterns) : patterns_{std::move(patterns)} {}

    // Appends to `out` what is decided.
    void feed(std::string_view bytes, std::string& out);
    // The end of the stream: what is held and no beginning of a value that is not little.
    void finish(std::string& out);

    // Of the values that were taken out.
    [[nodiscard]] const std::set<std::string>& names() const { return names_; }

private:
    static constexpr std::size_t kMuch = 8;

    std::shared_ptr<const Patterns> patterns_;  // shared by the streams of a sandbox
    Automaton::State state_ = Automaton::kStart;
    std::string held_;  // read, not written yet
    std::set<std::string> names_;
};

}  // namespace oyat::masking
