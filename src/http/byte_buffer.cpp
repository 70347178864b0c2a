#include "http/byte_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace oyat::http {

void ByteBuffer::consume(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
}

std::span<char> ByteBuffer::room(std::size_t count) {
    if (capacity_ - end_ < count) {
        if (capacity_ - size() >= count && begin_ >= capacity_ / 2) {
            std::memmove(data_.get(), data_.get() + begin_, size());
        } else {
            const std::size_t grown = std::max(capacity_ * 2, size() + count);
            auto larger = std::make_unique_for_overwrite<char[]>(grown);
            if (!empty()) std::memcpy(larger.get(), data_.get() + begin_, size());
            data_ = std::move(larger);
            capacity_ = grown;
        }
        end_ = size();
        begin_ = 0;
    }
    return {data_.get() + end_, capacity_ - end_};
}

void ByteBuffer::shrink() noexcept {
    if (!empty()) return;
    data_.reset();
    capacity_ = begin_ = end_ = 0;
}

}  // namespace oyat::http
