// One stream searched for values, cut in two ways. Both must give the same, and what comes out must hold none
// of the shapes of the values. The input's lines are values, the rest, after an empty line, is the stream.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "masking/encodings.hpp"
#include "masking/stream_masker.hpp"

namespace {

using namespace oyat::masking;

std::string in_chunks(const std::shared_ptr<const Patterns>& patterns, std::string_view text,
                      std::size_t size) {
    std::string out;
    StreamMasker masker{patterns};
    for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
        masker.feed(text.substr(0, size), out);
    }
    masker.finish(out);
    return out;
}

// Marks are no leak, whatever they happen to spell together with their neighbours: each becomes a byte that
// no value of this target has.
std::string without_marks(std::string text) {
    for (const std::string_view mark : {"[masked:x]", "[masked:?]"}) {
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
            text.replace(at, mark.size(), 1, '\0');
        }
    }
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest{reinterpret_cast<const char*>(data), size};
    std::vector<Value> values;
    while (values.size() < 4 && !rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string value{rest.substr(0, end)};
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (value.empty()) break;
        std::erase_if(value, [](char c) { return c == '\0' || c == '['; });
        values.push_back({.name = "x", .value = std::move(value)});
    }
    std::string text{rest};
    std::ranges::replace(text, '[', '(');  // so that a mark in the output is a mark
    const auto patterns = Patterns::of(values);
    if (!patterns) return 0;
    const std::string whole = in_chunks(patterns, text, std::max<std::size_t>(text.size(), 1));
    OYAT_ASSERT(whole == in_chunks(patterns, text, 1 + size % 7));
    const std::string shown = without_marks(whole);
    for (const Value& each : values) {
        for (const std::string& shape : encodings_of(each.value)) {
            OYAT_ASSERT(shown.find(shape) == std::string::npos);
        }
    }
    return 0;
}
