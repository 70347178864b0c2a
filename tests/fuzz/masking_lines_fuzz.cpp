// One stream searched for an operator's forms and those that ship, cut in two ways: both must give the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "base/throwing.hpp"
#include "masking/output_masker.hpp"
#include "masking/shipped.hpp"

namespace {

using namespace oyat::masking;

const Hidden& hidden() {
    static const Hidden made{.values = Patterns::of({{"v", "secret-value"}}),
                             .forms = oyat::or_throw(Expressions::compile({*shipped("mail"),
                                                                           *shipped("phone"),
                                                                           *shipped("iban"),
                                                                           *shipped("card"),
                                                                           api_keys(),
                                                                           {"word", "\\bX+Y\\b"}}))};
    return made;
}

std::string in_chunks(std::string_view text, std::size_t size) {
    std::string out;
    OutputMasker masker{hidden()};
    for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
        masker.feed(text.substr(0, size), out);
    }
    masker.finish(out);
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Repeated, so that a line may grow longer than what is searched at a time.
    std::string text{reinterpret_cast<const char*>(data), size};
    const std::size_t times = size > 0 ? data[0] % 64 : 0;
    for (std::size_t i = 0; i < times; ++i) text.append(reinterpret_cast<const char*>(data), size);
    OYAT_ASSERT(in_chunks(text, std::max<std::size_t>(text.size(), 1)) == in_chunks(text, 1 + size % 1999));
    return 0;
}
