#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/fd.hpp"
#include "io/task.hpp"

namespace oyat {

// A connected byte stream: TCP, unix or TLS, whatever is below. One reader and one writer at a time, which
// may be two different coroutines of the same loop. Failures are thrown as Error{unavailable}.
class Stream {
public:
    virtual ~Stream() = default;

    // At least one byte, or 0 at the end of the stream.
    virtual Task<std::size_t> read_some(std::span<char> into) = 0;
    virtual Task<> write_all(std::string_view bytes) = 0;
    // Several pieces as if they were one, in one system call where the stream can. The pieces and the array
    // that holds them outlive the call.
    virtual Task<> write_parts(std::span<const std::string_view> parts);
    // No more reading: what waits for bytes, now or later, gets the end of the stream. For time limits after
    // which there is still something to say.
    virtual void shutdown_read() { close(); }
    // No more writing; the other side sees the end after what was written.
    virtual void shutdown_write() = 0;
    // Ends both directions at once; pending reads and writes fail.
    virtual void close() = 0;
    // For sendfile-like moves and socket options; -1 when there is no plain descriptor below (TLS).
    [[nodiscard]] virtual int native_fd() const { return -1; }
};

// Takes a connected socket (TCP or unix SOCK_STREAM), sets it non-blocking and TCP_NODELAY where it applies.
[[nodiscard]] std::unique_ptr<Stream> make_stream(Executor executor, Fd socket);

}  // namespace oyat
