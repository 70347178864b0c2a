#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace oyat::http {

// Bytes that were read but not used yet. Grows when asked for room and gives its memory back when it is
// empty, so that an idle connection holds none.
class ByteBuffer {
public:
    ByteBuffer() noexcept = default;
    ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
    ByteBuffer& operator=(ByteBuffer&& other) noexcept {
        swap(other);
        return *this;
    }

    [[nodiscard]] std::string_view view() const noexcept { return {data_.get() + begin_, end_ - begin_}; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

    // Forgets the first bytes.
    void consume(std::size_t count) noexcept;

    // Room for at least `count` more bytes behind the last one; commit() says how many were put there. The
    // view moves.
    [[nodiscard]] std::span<char> room(std::size_t count);
    void commit(std::size_t count) noexcept { end_ += count; }

    // Gives the memory back when nothing is inside.
    void shrink() noexcept;

private:
    void swap(ByteBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
    }

    std::unique_ptr<char[]> data_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace oyat::http
