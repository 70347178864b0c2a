#include "audit/segment_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "audit/line.hpp"
#include "base/throwing.hpp"

namespace oyat::audit {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr std::size_t kDigits = 6;
constexpr std::size_t kLongestChain = 40;

bool is_chain_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

WallTime to_wall(std::filesystem::file_time_type time) {
    return std::chrono::time_point_cast<WallTime::duration>(std::chrono::file_clock::to_sys(time));
}

}  // namespace

std::string file_name(const SegmentName& name) {
    std::string digits = std::to_string(name.segment);
    if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
    return name.chain + "." + digits + std::string{kSuffix};
}

std::optional<SegmentName> parse_segment_name(std::string_view name) {
    if (name.size() < 1 + 1 + kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
    name.remove_suffix(kSuffix.size());
    const std::string_view digits = name.substr(name.size() - kDigits);
    name.remove_suffix(kDigits);
    if (!name.ends_with('.')) return std::nullopt;
    name.remove_suffix(1);
    std::uint32_t segment = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), segment);
    if (failed != std::errc{} || end != digits.data() + digits.size() || segment == 0) return std::nullopt;
    if (name.empty() || name.size() > kLongestChain || !std::ranges::all_of(name, is_chain_char))
        return std::nullopt;
    return SegmentName{.chain = std::string{name}, .segment = segment};
}

std::vector<SegmentFile> list_segments(const std::filesystem::path& directory) {
    std::vector<SegmentFile> files;
    try {
        for (const auto& entry : std::filesystem::directory_iterator{directory}) {
            auto name = parse_segment_name(entry.path().filename().native());
            std::error_code gone;  // its time was over while we looked
            if (!name || !entry.is_regular_file(gone) || gone) continue;
            SegmentFile file{.name = *std::move(name), .path = entry.path()};
            file.bytes = entry.file_size(gone);
            if (!gone) file.changed = to_wall(entry.last_write_time(gone));
            if (!gone) files.push_back(std::move(file));
        }
    } catch (const std::filesystem::filesystem_error& error) {
        throw errno_error(error.code().value(), "list the record in " + directory.native());
    }
    std::ranges::sort(files, {},
                      [](const SegmentFile& file) { return std::pair{file.name.chain, file.name.segment}; });
    return files;
}

void for_each_line(int file, const std::function<bool(const RawLine&)>& take) {
    constexpr std::size_t kChunk = 256 * 1024;
    std::string pending;            // the begun line, at most kLongestLine of it, then the rest of the chunk
    std::uint64_t begin = 0;        // offset of `pending` in the file
    std::uint64_t passed_over = 0;  // bytes of an overlong line that were not kept
    for (;;) {
        const std::size_t kept = pending.size();
        pending.resize(kept + kChunk);
        const auto count = static_cast<std::size_t>(
            sys(::pread(file, pending.data() + kept, kChunk, static_cast<off_t>(begin + passed_over + kept)),
                "read"));
        pending.resize(kept + count);
        if (count == 0) {
            if (pending.empty()) return;
            take({.text = pending, .offset = begin, .size = pending.size() + passed_over, .ended = false});
            return;
        }
        std::size_t from = 0;
        std::size_t search = kept;  // what was kept has no newline
        while (const void* found = std::memchr(pending.data() + search, '\n', pending.size() - search)) {
            const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - pending.data());
            const std::string_view text{pending.data() + from, std::min(end - from, kLongestLine)};
            const RawLine line{.text = text, .offset = begin, .size = end - from + passed_over};
            begin += line.size + 1;
            passed_over = 0;
            from = search = end + 1;
            if (!take(line)) return;
        }
        pending.erase(0, from);
        if (pending.size() > kLongestLine) {
            passed_over += pending.size() - kLongestLine;
            pending.resize(kLongestLine);
        }
    }
}

}  // namespace oyat::audit
