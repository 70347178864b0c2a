#include "masking/automaton.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.hpp"

namespace oyat::masking {
namespace {

// The words, sorted, that share the bytes which lead to a state.
struct Range {
    std::size_t begin;
    std::size_t end;
};

}  // namespace

Automaton::Automaton(std::vector<Word> words) {
    std::ranges::sort(words, {}, [](const Word& each) { return std::tie(each.bytes, each.name); });
    for (const Word& word : words) {
        OYAT_ASSERT(word.bytes.size() >= 2 && word.bytes.size() <= UINT16_MAX);
        beginnings_.set(beginning(word.bytes[0], word.bytes[1]));
    }

    const auto add_state = [this](char label, std::uint16_t depth) {
        labels_.push_back(label);
        depth_.push_back(depth);
        fallback_.push_back(kStart);
        matches_.push_back({});
    };
    std::vector<Range> ranges{{0, words.size()}};
    add_state('\0', 0);
    for (State state = 0; state < ranges.size(); ++state) {
        auto [at, end] = ranges[state];
        const std::uint16_t depth = depth_[state];
        // Words that are the prefix itself come first in the order.
        if (at < end && words[at].bytes.size() == depth) {
            matches_[state] = {.length = depth, .name = words[at].name};
            while (at < end && words[at].bytes.size() == depth) ++at;
        } else {
            matches_[state] = matches_[fallback_[state]];
        }
        children_.push_back(static_cast<std::uint32_t>(ranges.size()));
        while (at < end) {
            const char label = words[at].bytes[depth];
            std::size_t next = at;
            while (next < end && words[next].bytes[depth] == label) ++next;
            const auto child = static_cast<State>(ranges.size());
            ranges.push_back({at, next});
            add_state(label, static_cast<std::uint16_t>(depth + 1));
            // All states above are complete, so the text without its first byte can be followed already.
            if (state != kStart) fallback_[child] = step(fallback_[state], label);
            at = next;
        }
    }
    children_.push_back(static_cast<std::uint32_t>(ranges.size()));
}

}  // namespace oyat::masking
