#include "http/prefixed_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace oyat::http {
namespace {

class PrefixedStream final : public Stream {
public:
    PrefixedStream(ByteBuffer prefix, std::unique_ptr<Stream> stream)
        : prefix_{std::move(prefix)}, stream_{std::move(stream)} {}

    Task<std::size_t> read_some(std::span<char> into) override {
        if (prefix_.empty()) {
            prefix_.shrink();
            co_return co_await stream_->read_some(into);
        }
        const std::size_t count = std::min(into.size(), prefix_.size());
        std::memcpy(into.data(), prefix_.view().data(), count);
        prefix_.consume(count);
        co_return count;
    }
    Task<> write_all(std::string_view bytes) override { return stream_->write_all(bytes); }
    Task<> write_parts(std::span<const std::string_view> parts) override {
        return stream_->write_parts(parts);
    }
    void shutdown_read() override { stream_->shutdown_read(); }
    void shutdown_write() override { stream_->shutdown_write(); }
    void close() override { stream_->close(); }

private:
    ByteBuffer prefix_;
    std::unique_ptr<Stream> stream_;
};

}  // namespace

std::unique_ptr<Stream> with_prefix(ByteBuffer prefix, std::unique_ptr<Stream> stream) {
    if (prefix.empty()) return stream;
    return std::make_unique<PrefixedStream>(std::move(prefix), std::move(stream));
}

}  // namespace oyat::http
