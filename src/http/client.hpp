#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/fields.hpp"
#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

struct ClientRequest {
    std::string method = "GET";
    std::string target = "/";
    Fields fields;  // Host must be among them
    std::string body;
};

struct ResponseHead {
    int status = 0;
    Fields fields;
    std::optional<std::uint64_t> content_length;
};

// One request at a time on one connection, kept alive between requests. Used by the command line and by
// tests; the port proxy has its own (proxy.hpp).
class ClientConnection {
public:
    explicit ClientConnection(std::unique_ptr<Stream> stream);
    ~ClientConnection();

    // Sends the request with its body and reads the head of the answer; interim answers (1xx) are passed
    // over. What is left of the previous answer is read first. Throws Error{unavailable} when the connection
    // ends before.
    Task<ResponseHead> send(ClientRequest request);

    // The same with a body that is streamed: `length` bytes, or chunked. request.body is sent first.
    Task<> begin(ClientRequest request, std::optional<std::uint64_t> length);
    Task<> write_body(std::string_view bytes);
    Task<ResponseHead> end();

    Task<std::size_t> read_body(std::span<char> into);  // 0 at the end
    // Throws Error{exhausted} when the body is longer than `limit`.
    Task<std::string> read_whole_body(std::size_t limit);

    // After an answer of 101: the connection, with what was read too early first.
    [[nodiscard]] std::unique_ptr<Stream> release();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Connects to "http://host:port" or "https://..." (verified by the system's CA store) or "unix:/path". What
// stands behind the host and port is not looked at. Throws Error{invalid_argument} for other URLs,
// Error{unavailable} when nobody answers within 10 s.
Task<std::unique_ptr<Stream>> connect_to(Executor executor, const std::string& url);

}  // namespace oyat::http
