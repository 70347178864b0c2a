#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "masking/tally.hpp"

namespace oyat::masking {

// Which bytes of a text are taken out. Finds that overlap become one, under the name of the one that begins
// first: every byte of every find goes.
class Cover {
public:
    // Finds come in the order of their ends, `from` < `to`.
    void add(std::size_t from, std::size_t to, std::string_view name, bool partial = false);
    [[nodiscard]] bool hides(std::size_t from, std::size_t to) const;
    // The end of the find that goes on over `place`, or the place itself.
    [[nodiscard]] std::size_t end_of_find_at(std::size_t place) const;

    // Writes the first `until` bytes of the text with `[masked:NAME]` for what is taken out, and forgets
    // them: places then count from there. A find that goes on beyond is written now; its rest is silent.
    void write(std::string& out, std::string_view text, std::size_t until, Tally& tally);

private:
    struct Span {
        std::size_t from;
        std::size_t to;
        std::string name;
        bool partial;
        bool written = false;  // its mark stands already
    };
    void write_mark(std::string& out, Span& span, Tally& tally);

    std::vector<Span> spans_;
    // The name of the mark that is the last thing written, or "": one of the same name right behind is the
    // same value in pieces.
    std::string last_mark_;
};

}  // namespace oyat::masking
