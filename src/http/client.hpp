#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

    Task<ResponseHead> send(ClientRequest request);
    Task<std::size_t> read_body(std::span<char> into);  // 0 at the end
    Task<std::string> read_whole_body(std::size_t limit);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Connects to "http://host:port" or "https://..." (verified by the system's CA store) or "unix:/path".
Task<std::unique_ptr<Stream>> connect_to(Executor executor, const std::string& url);

}  // namespace oyat::http
