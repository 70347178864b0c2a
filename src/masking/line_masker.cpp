#include "masking/line_masker.hpp"

#include <algorithm>

namespace oyat::masking {
namespace {

constexpr std::size_t kPart = 8u << 10;
constexpr std::size_t kLongestFind = 256;

}  // namespace

void LineMasker::feed(std::string_view bytes, std::string& out) {
    while (!bytes.empty()) {
        const std::size_t line = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
        const std::size_t part = std::min(line, kPart - held_.size());
        held_ += bytes.substr(0, part);
        bytes.remove_prefix(part);
        if (held_.ends_with('\n')) {
            write(out, 0);
            known_ = 0;
            held_.clear();
        } else if (held_.size() == kPart) {
            write(out, kLongestFind);
        }
    }
}

void LineMasker::release(std::string& out) {
    if (holds()) write(out, 0);
}

// Searches what is held and writes all of it but its last `kept` bytes, and those too that are of a find
// which begins before them.
void LineMasker::write(std::string& out, std::size_t kept) {
    Cover cover;
    expressions_->search(held_, known_, cover);
    const std::string_view fresh = std::string_view{held_}.substr(known_);
    const std::size_t until = cover.end_of_find_at(fresh.size() - kept);
    cover.write(out, fresh, until, tally_);
    held_.erase(0, known_ + until - 1);
    known_ = 1;
}

}  // namespace oyat::masking
