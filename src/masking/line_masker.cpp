#include "masking/line_masker.hpp"

#include <algorithm>

namespace oyat::masking {
namespace {

constexpr std::size_t kPart = 8u << 10;
constexpr std::size_t kLongestFind = 256;

}  // namespace

// The length of the complete lines at the beginning, up to one that is endless.
std::size_t LineMasker::whole_lines(std::string_view bytes) {
    std::size_t whole = 0;
    for (std::size_t end = 0; (end = bytes.find('\n', whole)) != std::string_view::npos; whole = end + 1) {
        if (end + 1 - whole > kPart) break;
    }
    return whole;
}

void LineMasker::feed(std::string_view bytes, std::string& out) {
    while (!bytes.empty()) {
        if (held_.empty()) {
            const std::size_t whole = whole_lines(bytes);
            write_lines(bytes.substr(0, whole), out);
            bytes.remove_prefix(whole);
        }
        if (bytes.empty()) return;
        const std::size_t line = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
        const std::size_t part = std::min(line, kPart - held_.size());
        held_ += bytes.substr(0, part);
        bytes.remove_prefix(part);
        if (held_.ends_with('\n')) {
            write_held(out, 0);
            known_ = 0;
            held_.clear();
        } else if (held_.size() == kPart) {
            write_held(out, kLongestFind);
        }
    }
}

void LineMasker::release(std::string& out) {
    if (holds()) write_held(out, 0);
}

void LineMasker::write_lines(std::string_view lines, std::string& out) {
    Cover cover;
    expressions_->search(lines, 0, cover);
    cover.write(out, lines, lines.size(), tally_);
}

// Searches what is held and writes all of it but its last `kept` bytes, and those too that are of a find
// which begins before them.
void LineMasker::write_held(std::string& out, std::size_t kept) {
    Cover cover;
    expressions_->search(held_, known_, cover);
    const std::string_view fresh = std::string_view{held_}.substr(known_);
    const std::size_t until = cover.end_of_find_at(fresh.size() - kept);
    cover.write(out, fresh, until, tally_);
    held_.erase(0, known_ + until - 1);
    known_ = 1;
}

}  // namespace oyat::masking
