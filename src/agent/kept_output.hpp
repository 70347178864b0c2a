#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oyat::agent {

// The output of one channel that no host has acknowledged. Bytes come in at the end, are sent in order, and
// leave at the front when they are acknowledged or, with nobody there, when there are too many.
class KeptOutput {
public:
    [[nodiscard]] std::size_t size() const { return bytes_.size() - head_; }
    [[nodiscard]] std::string_view unsent() const { return std::string_view{bytes_}.substr(head_ + sent_); }

    void append(std::string_view bytes) { bytes_.append(bytes); }

    void mark_sent(std::size_t bytes) { sent_ += bytes; }
    // Of what was sent.
    void acknowledge(std::size_t bytes);
    // The connection is gone: everything here has to be sent again.
    void rewind() { sent_ = 0; }
    // Nothing may be sent and unacknowledged when the oldest bytes are given up.
    void drop_oldest(std::size_t bytes);

private:
    void remove_front(std::size_t bytes);

    std::string bytes_;
    std::size_t head_ = 0;  // bytes before it are gone
    std::size_t sent_ = 0;  // counted from head_
};

}  // namespace oyat::agent
