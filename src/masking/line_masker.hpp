#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "masking/expressions.hpp"
#include "masking/tally.hpp"

namespace oyat::masking {

// Takes what has one of the operator's forms out of one stream. A form never spans lines, so a line is
// searched when it is complete. Of an endless line 8 KiB are searched at a time, and the last 256 bytes
// of them once more with what follows: a longer find may be cut there.
class LineMasker {
public:
    explicit LineMasker(std::shared_ptr<const Expressions> expressions)
        : expressions_{std::move(expressions)} {}

    void feed(std::string_view bytes, std::string& out);
    [[nodiscard]] bool holds() const { return held_.size() > known_; }
    // Gives out the line that is not complete, searched as far as it goes: for a prompt that must be seen.
    void release(std::string& out);

    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    [[nodiscard]] static std::size_t whole_lines(std::string_view bytes);
    void write_lines(std::string_view lines, std::string& out);
    void write_held(std::string& out, std::size_t kept);

    std::shared_ptr<const Expressions> expressions_;  // shared by all streams
    std::string held_;
    std::size_t known_ = 0;  // of held_, written already: one byte, to tell where a word begins
    Tally tally_;
};

}  // namespace oyat::masking
