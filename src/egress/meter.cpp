#include "egress/meter.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "egress/relay.hpp"

namespace oyat::egress {

// One socket. Those towards the world are counted; what the sandbox sends to us alone costs nobody anything.
class Meter::Metered final : public Stream {
public:
    Metered(Meter& meter, std::unique_ptr<Stream> socket, bool counted)
        : meter_{meter}, socket_{std::move(socket)}, counted_{counted} {
        meter_.streams_.insert(this);
    }
    ~Metered() override { meter_.streams_.erase(this); }

    Task<std::size_t> read_some(std::span<char> into) override {
        const std::size_t got = co_await socket_->read_some(into);
        co_await moved(0, got);
        co_return got;
    }

    Task<> write_all(std::string_view bytes) override {
        co_await socket_->write_all(bytes);
        co_await moved(bytes.size(), 0);
    }

    Task<> write_parts(std::span<const std::string_view> parts) override {
        co_await socket_->write_parts(parts);
        std::size_t size = 0;
        for (const std::string_view part : parts) size += part.size();
        co_await moved(size, 0);
    }

    void shutdown_read() override { socket_->shutdown_read(); }
    void shutdown_write() override { socket_->shutdown_write(); }
    void close() override { socket_->close(); }
    [[nodiscard]] int native_fd() const override { return socket_->native_fd(); }

    void reset() noexcept {
        if (socket_->native_fd() >= 0) reset_on_close(socket_->native_fd());
        socket_->close();
    }

private:
    Task<> moved(std::uint64_t up, std::uint64_t down) {
        meter_.touch();
        if (counted_) co_await meter_.count(up, down);
    }

    Meter& meter_;
    std::unique_ptr<Stream> socket_;
    bool counted_;
};

Meter::Meter(Executor executor, Pace& pace, const Clock& clock, Millis idle_limit)
    : executor_{std::move(executor)},
      pace_{pace},
      clock_{clock},
      idle_limit_{idle_limit},
      idle_{executor_, [this] {
                was_idle_ = true;
                cut();
            }} {
    touch();
}

std::unique_ptr<Stream> Meter::inside(Fd socket) {
    // Our answers must arrive, so this socket is closed in the ordinary way.
    finish_on_close(socket.get());
    return metered(make_stream(executor_, std::move(socket)), false);
}

std::unique_ptr<Stream> Meter::outside(std::unique_ptr<Stream> connected) {
    return metered(std::move(connected), true);
}

std::unique_ptr<Stream> Meter::metered(std::unique_ptr<Stream> socket, bool counted) {
    auto stream = std::make_unique<Metered>(*this, std::move(socket), counted);
    if (cut_) stream->reset();
    return stream;
}

void Meter::cut() noexcept {
    cut_ = true;
    idle_.disarm();
    for (Metered* stream : streams_) stream->reset();
}

Task<> Meter::count(std::uint64_t up, std::uint64_t down) {
    up_ += up;
    down_ += down;
    std::chrono::nanoseconds wait = pace_.after(up + down, clock_.mono());
    if (moved_) wait = std::max(wait, moved_(up, down));
    if (wait.count() > 0) co_await sleep_for(wait);
}

}  // namespace oyat::egress
