#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/loop.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

class Stream;

// What the host sends to a program, until the program takes it. Credit goes back as the program reads, so its
// own pipe slows the sender.
class ProcessInput {
public:
    // More than this is only possible when hosts come and go while the program does not read.
    static constexpr std::size_t kMaxPending = 1024 * 1024;
    enum class Kind { pipe, terminal };

    ProcessInput(Loop& loop, Fd fd, Kind kind);

    // Whose bytes come from now on, or null; what is pending from earlier is still written.
    void set_sender(Stream* sender);
    [[nodiscard]] std::size_t pending() const { return bytes_.size() - head_; }

    // To a program that does not read any more (or never did) the bytes are dropped.
    void write(std::string_view bytes);
    // Once everything is written: end of file. A terminal gets its end-of-file key.
    void close();
    // The program has ended.
    void abandon();

private:
    void flush();
    void take_front(std::size_t bytes);

    Fd fd_;
    Kind kind_;
    Readiness readiness_;
    Stream* sender_ = nullptr;
    std::string bytes_;
    std::size_t head_ = 0;
    std::size_t uncredited_ = 0;  // how many of them the present sender did not send, so gets no credit for
    bool closing_ = false;
};

}  // namespace oyat::agent
