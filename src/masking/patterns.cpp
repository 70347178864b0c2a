#include "masking/patterns.hpp"

#include <algorithm>
#include <utility>

#include "masking/encodings.hpp"

namespace oyat::masking {
namespace {

// A longer shape is looked for in pieces, of which each is hidden wherever it stands: little is held back
// then, and of a value that somebody cut, as errors are, less than a piece is left.
constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kShortestPiece = 32;

void add_pieces(std::vector<Automaton::Word>& words, std::string_view shape, std::uint16_t name) {
    for (std::size_t at = 0; at < shape.size(); at += kLongestWord) {
        std::string_view piece = shape.substr(at, kLongestWord);
        if (at > 0 && piece.size() < kShortestPiece) piece = shape.substr(shape.size() - kLongestWord);
        words.push_back({.bytes = std::string{piece}, .name = name});
    }
}

}  // namespace

std::shared_ptr<const Patterns> Patterns::of(const std::vector<Value>& values) {
    std::vector<Automaton::Word> words;
    std::vector<std::string> names;
    for (const Value& each : values) {
        const std::vector<std::string> shapes = encodings_of(each.value);
        if (shapes.empty()) continue;
        // Versions of one value share its name.
        const auto known = std::ranges::find(names.begin(), names.end(), each.name);
        const auto name = static_cast<std::uint16_t>(known - names.begin());
        if (known == names.end()) names.push_back(each.name);
        for (const std::string& shape : shapes) add_pieces(words, shape, name);
    }
    if (words.empty()) return nullptr;
    return std::shared_ptr<const Patterns>{new Patterns{std::move(words), std::move(names)}};
}

}  // namespace oyat::masking
