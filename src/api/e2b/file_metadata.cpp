#include "api/e2b/file_metadata.hpp"

#include <algorithm>
#include <string_view>

namespace oyat::e2b {
namespace {

constexpr std::string_view kPrefix = "X-Metadata-";
constexpr std::size_t kMaxKey = 246;
constexpr std::size_t kMaxTotal = 4096;
constexpr std::size_t kAttributePrefix = 9;  // the protocol counts its attribute's prefix with each key

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string lower(std::string_view text) {
    std::string result{text};
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

}  // namespace

Result<std::map<std::string, std::string>> file_metadata(const http::Fields& fields) {
    std::map<std::string, std::string> metadata;
    std::size_t total = 0;
    for (const auto& [name, value] : fields) {
        if (name.size() < kPrefix.size() ||
            !http::equal_ignoring_case(std::string_view{name}.substr(0, kPrefix.size()), kPrefix)) {
            continue;
        }
        std::string key = lower(std::string_view{name}.substr(kPrefix.size()));
        if (key.empty()) return refuse(Errc::invalid_argument, "metadata with an empty key");
        if (key.size() > kMaxKey) return refuse(Errc::invalid_argument, "metadata key longer than 246 bytes");
        if (!is_printable(key) || !is_printable(value)) {
            return refuse(Errc::invalid_argument, "metadata is not printable ASCII");
        }
        if (metadata.contains(key)) continue;
        total += kAttributePrefix + key.size() + value.size();
        if (total > kMaxTotal)
            return refuse(Errc::invalid_argument, "metadata longer than 4096 bytes in all");
        metadata.emplace(std::move(key), value);
    }
    return metadata;
}

}  // namespace oyat::e2b
