// Upload bodies: multipart in pieces whose size the input chooses, and gzip.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "api/e2b/multipart.hpp"
#include "base/assert.hpp"
#include "http/gzip.hpp"

namespace {

using oyat::e2b::MultipartReader;

void read_multipart(std::string_view rest, std::size_t step) {
    MultipartReader reader{"XX"};
    while (true) {
        const auto event = reader.next();
        if (!event || std::holds_alternative<MultipartReader::Finished>(*event)) return;
        if (!std::holds_alternative<MultipartReader::NeedsMore>(*event)) continue;
        if (rest.empty()) return;
        reader.feed(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
    }
}

void unpack(std::string_view rest, std::size_t step) {
    oyat::http::Gunzip gunzip;
    std::size_t total = 0;
    while (!rest.empty()) {
        gunzip.put(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
        while (true) {
            const auto piece = gunzip.take();
            if (!piece) return;
            if (piece->empty()) break;
            OYAT_ASSERT(piece->size() <= oyat::http::Gunzip::kMostAtOnce);
            total += piece->size();
            if (total > 16 * 1024 * 1024) return;
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view body{reinterpret_cast<const char*>(data) + 1, size - 1};
    const std::size_t step = data[0] % 32 + 1;
    (void)oyat::e2b::multipart_boundary(body);
    read_multipart(body, step);
    unpack(body, step);
    return 0;
}
