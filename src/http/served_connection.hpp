#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/date_line.hpp"
#include "http/server.hpp"
#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

// What all connections of a server share.
struct Service {
    Handler handler;
    ServerOptions options;
    DateLine date = {};
    // Told of each request that was refused before a handler could see it; may be empty.
    std::function<void(std::string_view why)> on_refused = {};
};

// A connection of which somebody else has taken care so far: a listener, or who intercepts a TLS connection.
struct Accepted {
    std::unique_ptr<Stream> stream;
    std::string peer;  // becomes RequestHead::peer
    bool tls = false;
    bool http2 = false;  // as ALPN said; never guessed from the bytes
};

// One client's connection, being served.
class ServedConnection {
public:
    virtual ~ServedConnection() = default;
    // Reads requests and lets the handler answer them until either side ends it. Run by a task that outlives
    // the connection.
    virtual Task<> serve() = 0;
    // Takes no more requests, and ends when those that run have been answered.
    virtual void end_soon() = 0;
};

// The service outlives the connection.
[[nodiscard]] std::unique_ptr<ServedConnection> make_connection(Executor executor, Accepted accepted,
                                                                Service& service);

}  // namespace oyat::http
