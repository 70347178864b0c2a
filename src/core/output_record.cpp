#include "core/output_record.hpp"

#include "base/json_escape.hpp"
#include "core/json_text.hpp"

namespace oyat::core {
namespace {

// Kept of every output even when the budget is used up.
constexpr std::size_t kFree = 64u << 10;

}  // namespace

void OutputRecord::add(std::string_view bytes) {
    digest_.update(bytes);
    bytes_ += bytes.size();
    keep(bytes);
}

void OutputRecord::keep(std::string_view bytes) {
    if (whole_) {
        const std::size_t size = head_.size() + bytes.size();
        if (size <= limit_) {
            const std::size_t wanted = size > kFree ? size - kFree : 0;
            if (wanted <= taken_ || budget_.take(wanted - taken_)) {
                taken_ = std::max(taken_, wanted);
                head_.append(bytes);
                return;
            }
            limit_ = std::max(head_.size(), kFree);
        }
        cut();
    }
    const std::size_t half = limit_ / 2;
    if (head_.size() < half) {
        const std::size_t part = std::min(half - head_.size(), bytes.size());
        head_.append(bytes.substr(0, part));
        bytes.remove_prefix(part);
    }
    if (bytes.size() > half) bytes.remove_prefix(bytes.size() - half);
    tail_.append(bytes);
    if (tail_.size() > 2 * half) tail_.erase(0, tail_.size() - half);
}

// From one text to a head and a tail.
void OutputRecord::cut() {
    whole_ = false;
    const std::size_t half = limit_ / 2;
    if (head_.size() > half) {
        tail_ = head_.substr(half);
        head_.resize(half);
        head_.shrink_to_fit();
    }
}

boost::json::object OutputRecord::finish() {
    boost::json::object out{{"bytes", bytes_}};
    if (bytes_ == 0) return out;
    out["sha256"] = to_hex(digest_.finish());
    if (whole_) {
        out["kept"] = "all";
        out["text"] = json_text(head_);
        if (!is_utf8(head_)) out["lossy"] = true;  // the text, not the digest
    } else {
        const std::size_t half = limit_ / 2;
        out["kept"] = "ends";
        out["head"] = json_text(head_);
        out["tail"] =
            json_text(std::string_view{tail_}.substr(tail_.size() > half ? tail_.size() - half : 0));
    }
    return out;
}

}  // namespace oyat::core
