#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace oyat::http {

// Memory for moving bytes from one stream to another. It is small while little comes, as on the thousands of
// web sockets and event streams that mostly wait, and grows to 64 KiB while reads fill it.
class PumpBuffer {
public:
    [[nodiscard]] std::span<char> space() {
        if (size_ != wanted_) {
            data_ = std::make_unique_for_overwrite<char[]>(wanted_);
            size_ = wanted_;
        }
        return {data_.get(), size_};
    }

    // How much a read into space() brought; decides about the next one. Keeps the bytes.
    void filled(std::size_t count) noexcept {
        small_reads_ = count < kSmall ? small_reads_ + 1 : 0;
        if (count == size_) wanted_ = kLarge;
        if (small_reads_ >= kPatience) wanted_ = kSmall;
    }

private:
    static constexpr std::size_t kSmall = 4 * 1024;
    static constexpr std::size_t kLarge = 64 * 1024;
    static constexpr unsigned kPatience = 16;  // the end of a chunk is short, too

    std::unique_ptr<char[]> data_;
    std::size_t size_ = 0;
    std::size_t wanted_ = kSmall;
    unsigned small_reads_ = 0;
};

}  // namespace oyat::http
