// The list of refs at the front of a git push, plain and compressed, in pieces whose size the input chooses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "egress/push_reader.hpp"

namespace {

using oyat::egress::PushReader;

void read(PushReader reader, std::string_view rest, std::size_t step) {
    while (!rest.empty()) {
        const oyat::Result<bool> taken = reader.take(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
        if (!taken || *taken) break;
    }
    OYAT_ASSERT(reader.refs().size() <= PushReader::kMaxRefs);
    for (const std::string& ref : reader.refs()) OYAT_ASSERT(oyat::egress::is_full_ref(ref));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view text{reinterpret_cast<const char*>(data) + 2, size - 2};
    oyat::http::Fields fields;
    if (data[0] % 2 == 1) fields.add("Content-Encoding", "gzip");
    read(*PushReader::of(fields), text, data[1] + std::size_t{1});
    return 0;
}
