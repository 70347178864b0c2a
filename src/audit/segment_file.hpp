#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

// The files of the record: <state>/audit/<chain>.<segment, six digits>.log. A chain is a sandbox id, or
// "server" for what belongs to none; its segments count from 1.
namespace oyat::audit {

inline constexpr std::string_view kServerChain = "server";
inline constexpr std::string_view kFullDiskChain =
    "server-full";  // of all sandboxes, while the disk was full

struct SegmentName {
    std::string chain;
    std::uint32_t segment = 0;
};

[[nodiscard]] std::string file_name(const SegmentName& name);
[[nodiscard]] std::optional<SegmentName> parse_segment_name(std::string_view file_name);

struct SegmentFile {
    SegmentName name;
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    WallTime changed{};
};
// Sorted by chain, then segment. Other files are passed over. Throws Error.
[[nodiscard]] std::vector<SegmentFile> list_segments(const std::filesystem::path& directory);

// One piece of a file between newlines.
struct RawLine {
    std::string_view text;     // without the newline; at most kLongestLine bytes, then `cut`
    std::uint64_t offset = 0;  // of its first byte in the file
    std::uint64_t size = 0;    // of the whole line, also when it was cut
    bool ended = true;         // false: the file ends without a newline here
    [[nodiscard]] bool cut() const { return size > text.size(); }
};
// Calls `take` for each line in order until it returns false. Memory stays bounded whatever the file holds.
// Throws Error.
void for_each_line(int file, const std::function<bool(const RawLine&)>& take);

}  // namespace oyat::audit
