#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/fields.hpp"
#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

// The head of a request as it came, checked: one Host, no smuggling (threats C-05), target at most 16 KiB,
// all fields at most 64 KiB.
struct RequestHead {
    std::string method;  // as sent; methods are case-sensitive
    std::string target;  // "/files?path=%2Fa": as sent, origin form
    std::string path;    // the part before '?', still percent-encoded
    std::string query;   // the part after '?', without it
    std::string host;    // Host without port, lower case; "" for HTTP/1.0 without one
    int host_port = 0;   // 0 when Host has none
    Fields fields;
    std::string peer;  // address of the client, without port
    bool tls = false;
    std::optional<std::uint64_t> content_length;
    bool has_body = false;
    bool wants_upgrade = false;  // Connection: upgrade with an Upgrade field; not for h2c, not with a body
};

// One request and its answer. The handler reads the body if it wants it and answers exactly once, either by
// respond() or by start(), write()... and finish(). What it does not read is drained or the connection
// closed.
class Exchange {
public:
    virtual ~Exchange() = default;

    [[nodiscard]] virtual const RequestHead& request() const = 0;
    [[nodiscard]] virtual Executor executor() const = 0;

    // The next bytes of the body, de-chunked; 0 at its end. Sends "100 Continue" first when the client waits
    // for it. Throws Error{deadline} after 30 s without a byte, Error{unavailable} when the client is gone,
    // Error{invalid_argument} when the framing is broken. A handler that lets these pass leaves the answer
    // (408, 400) to the server; the connection ends in any case.
    virtual Task<std::size_t> read_body(std::span<char> into) = 0;
    // The whole body; throws Error{invalid_argument} when it is over `limit` bytes.
    virtual Task<std::string> read_whole_body(std::size_t limit) = 0;
    // Lets read_body() wait longer, for bodies in which silence is nothing bad.
    virtual void allow_silence(Millis limit) = 0;

    // Whole answer with a Content-Length. Fields that belong to the connection (Content-Length,
    // Transfer-Encoding, Connection and their kin) are written by the server; given ones are left out. A name
    // or value that can't be in a field line throws Error{invalid_argument}.
    virtual Task<> respond(int status, Fields fields, std::string body) = 0;

    // Streamed answer: chunked, or exactly `length` bytes. write() waits while the client is slow. The head
    // leaves with the first bytes, or by itself when none come in the same turn of the loop.
    virtual Task<> start(int status, Fields fields, std::optional<std::uint64_t> length) = 0;
    virtual Task<> write(std::string_view bytes) = 0;
    virtual Task<> finish() = 0;
    // write() and finish() in one system call where the answer is chunked.
    virtual Task<> finish_with(std::string_view last) = 0;

    // Cuts the connection without ending the answer properly: the client must notice that something broke.
    virtual void abort() = 0;
    [[nodiscard]] virtual bool started() const = 0;

    // Completes (returns) when the client has closed or reset its connection while the answer is being
    // produced; to be raced against the work (io/race.hpp), and canceled with it. Requests that the client
    // sends ahead are kept for their turn. A client that only ends its sending side counts as gone. Only
    // valid once the body has been read to its end, which for a request without one is at once.
    virtual Task<> client_gone() = 0;

    // Gives the connection away after `head_bytes` (a complete response head, or nothing) have been written:
    // for upgrades. Bytes that were already read beyond the request come first from the stream.
    virtual Task<std::unique_ptr<Stream>> take_over(std::string head_bytes) = 0;
};

}  // namespace oyat::http
