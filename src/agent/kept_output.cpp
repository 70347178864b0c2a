#include "agent/kept_output.hpp"

#include "base/assert.hpp"

namespace oyat::agent {

void KeptOutput::acknowledge(std::size_t bytes) {
    OYAT_ASSERT(bytes <= sent_);
    sent_ -= bytes;
    remove_front(bytes);
}

void KeptOutput::drop_oldest(std::size_t bytes) {
    OYAT_ASSERT(sent_ == 0);
    remove_front(bytes);
}

void KeptOutput::remove_front(std::size_t bytes) {
    OYAT_ASSERT(bytes <= size());
    head_ += bytes;
    if (head_ == bytes_.size()) {
        // Most commands say little; the buffer of a talkative one is not kept for its silence.
        constexpr std::size_t kKeepCapacity = 64 * 1024;
        if (bytes_.capacity() > kKeepCapacity) std::string{}.swap(bytes_);
        bytes_.clear();
        head_ = 0;
    } else if (head_ > bytes_.size() / 2) {
        bytes_.erase(0, head_);
        head_ = 0;
    }
}

}  // namespace oyat::agent
