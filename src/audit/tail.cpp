#include "audit/tail.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/throwing.hpp"

namespace oyat::audit {
namespace {

// The end of the file that holds at least `lines` newlines, or everything, or as much as a few lines can
// have.
std::string read_end(int file, std::uint64_t size, std::ptrdiff_t lines) {
    constexpr std::uint64_t kChunk = 64 * 1024;
    std::string text;
    while (text.size() < size && text.size() < 3 * kLongestLine && std::ranges::count(text, '\n') < lines) {
        const std::uint64_t step = std::min(size - text.size(), std::max<std::uint64_t>(kChunk, text.size()));
        std::string chunk(step, '\0');
        const auto from = static_cast<off_t>(size - text.size() - step);
        chunk.resize(
            static_cast<std::size_t>(sys(::pread(file, chunk.data(), step, from), "read the end of a log")));
        if (chunk.size() != step) throw Error{Errc::internal, "a log became shorter while it was read"};
        text.insert(0, chunk);
    }
    return text;
}

std::string_view take_last_line(std::string_view& text) {
    const std::size_t newline = text.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? text : text.substr(newline + 1);
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(0, newline);
    return line;
}

// The heads of the few lines before the last: more than one, since a torn line stands before the line that
// says so.
std::vector<Digest> heads_before(std::string_view text) {
    std::vector<Digest> heads;
    while (!text.empty() && heads.size() < 2) {
        if (const auto line = parse_line(take_last_line(text))) heads.push_back(line->head);
    }
    return heads;
}

}  // namespace

Tail read_tail(int file) {
    struct stat facts{};
    sys(::fstat(file, &facts), "look at a log");
    Tail tail{.bytes = static_cast<std::uint64_t>(facts.st_size)};
    const std::string end = read_end(file, tail.bytes, 4);
    Hasher hasher;
    // True when the line was found to follow from one of those in `before`. The first line of a segment
    // follows from the segment before, which is not at hand here.
    const auto follows = [&hasher](const Line& line, std::string_view before) {
        const std::vector<Digest> heads = heads_before(before);
        return heads.empty() || std::ranges::any_of(heads, [&](const Digest& head) {
                   return hasher.chained(head, line.record) == line.head;
               });
    };
    std::string_view rest = end;
    for (bool ended = false; !rest.empty(); ended = true) {
        const std::uint64_t line_end = tail.bytes - end.size() + rest.size();
        const auto line = parse_line(take_last_line(rest));
        if (!line) continue;
        const bool sound = follows(*line, rest);
        if (!ended && !sound) continue;  // without its newline nothing says that it is whole
        tail.record = line->record;
        tail.head = line->head;
        tail.sound = sound;
        tail.newline_lost = !ended;
        tail.whole_bytes = line_end + (ended ? 1 : 0);
        break;
    }
    return tail;
}

}  // namespace oyat::audit
