#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::masking {

// Finds all of many words in one pass over a text (Aho and Corasick, 1975): after each byte its state is the
// longest end of the text that begins a word. Fifteen bytes of memory for each byte of the words, so that a
// key of 64 KiB in all its shapes does not hurt. Immutable: streams keep their own state.
class Automaton {
public:
    struct Word {
        std::string bytes;       // at least two
        std::uint16_t name = 0;  // whose it is
    };
    // Words of at most 64 KiB; of equal ones the lowest name counts.
    explicit Automaton(std::vector<Word> words);

    using State = std::uint32_t;
    static constexpr State kStart = 0;  // no end of the text begins a word

    [[nodiscard]] State step(State from, char byte) const {
        while (true) {
            const std::uint32_t end = children_[from + 1];
            for (std::uint32_t child = children_[from]; child < end; ++child) {
                if (labels_[child] == byte) return child;
            }
            if (from == kStart) return kStart;
            from = fallback_[from];
        }
    }
    // How many bytes long the end of the text is that begins a word.
    [[nodiscard]] std::size_t depth(State state) const { return depth_[state]; }

    // The longest word that the text ends with.
    struct Match {
        std::uint16_t length = 0;  // 0: none
        std::uint16_t name = 0;
    };
    [[nodiscard]] Match match(State state) const { return matches_[state]; }

    // The first place from `at` on where a word may begin, or the last byte of the text, whose follower is
    // not known yet. For kStart only.
    [[nodiscard]] std::size_t skip(std::string_view text, std::size_t at) const {
        while (at + 1 < text.size() && !beginnings_[beginning(text[at], text[at + 1])]) ++at;
        return at;
    }

private:
    static std::size_t beginning(char first, char second) {
        return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 6 ^
               static_cast<unsigned char>(second);
    }

    // By state, in the order of depth, so that a state's children stand side by side.
    std::vector<char> labels_;             // the byte that leads to it
    std::vector<std::uint32_t> children_;  // where its children begin; they end where the next one's begin
    std::vector<State> fallback_;          // the next shorter end of the text that begins a word
    std::vector<std::uint16_t> depth_;
    std::vector<Match> matches_;
    std::bitset<1u << 14> beginnings_;  // pairs of bytes that a word begins with, folded
};

}  // namespace oyat::masking
