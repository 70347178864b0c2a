#include "agent/process_input.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/pty.hpp"
#include "agent/stream.hpp"

namespace oyat::agent {

ProcessInput::ProcessInput(Loop& loop, Fd fd, Kind kind)
    : fd_{std::move(fd)}, kind_{kind}, readiness_{loop, [this](std::uint32_t) { flush(); }} {}

void ProcessInput::set_sender(Stream* sender) {
    sender_ = sender;
    uncredited_ = pending();
}

void ProcessInput::write(std::string_view bytes) {
    if (!fd_ || closing_) {
        if (sender_ != nullptr) sender_->consumed(bytes.size());
        return;
    }
    bytes_.append(bytes);
    flush();
}

void ProcessInput::close() {
    if (!fd_ || closing_) return;
    if (kind_ == Kind::terminal) {
        // It may be said again and again, and costs the one who says it no credit.
        if (pending() >= kMaxPending) return;
        bytes_ += end_of_file_key(fd_.get());
        ++uncredited_;
    } else {
        closing_ = true;
    }
    flush();
}

void ProcessInput::abandon() {
    take_front(pending());
    readiness_.disarm();
    fd_.reset();
}

void ProcessInput::flush() {
    while (fd_ && pending() > 0) {
        const ssize_t wrote = ::write(fd_.get(), bytes_.data() + head_, pending());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EAGAIN) {
            readiness_.arm(fd_.get(), EPOLLOUT);
            return;
        }
        if (wrote < 0) return abandon();  // EPIPE, or a terminal that nobody has open
        take_front(static_cast<std::size_t>(wrote));
    }
    readiness_.disarm();
    if (closing_) fd_.reset();
}

void ProcessInput::take_front(std::size_t bytes) {
    head_ += bytes;
    const std::size_t uncredited = std::min(bytes, uncredited_);
    uncredited_ -= uncredited;
    if (head_ == bytes_.size()) {
        std::string{}.swap(bytes_);
        head_ = 0;
    } else if (head_ > bytes_.size() / 2) {
        bytes_.erase(0, head_);
        head_ = 0;
    }
    if (sender_ != nullptr && bytes > uncredited) sender_->consumed(bytes - uncredited);
}

}  // namespace oyat::agent
