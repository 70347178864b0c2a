#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/settings.hpp"
#include "http/client.hpp"
#include "io/task.hpp"

namespace oyat::cli {

// Talks to oyatd in oyat's own protocol. All throw Failure.
class Client {
public:
    explicit Client(Settings settings) : settings_{std::move(settings)} {}

    [[nodiscard]] const Settings& settings() const { return settings_; }
    // A connection must not outlive the loop that it was made on.
    void disconnect() { connection_.reset(); }

    // The JSON of the answer; null when it has no body.
    Task<boost::json::value> get(std::string path);
    Task<boost::json::value> post(std::string path, boost::json::object body);
    Task<boost::json::value> put(std::string path, boost::json::object body);
    Task<> remove(std::string path);

    // Each line of a streamed answer, as it comes; empty ones are left out. Ends when the answer does.
    Task<> lines(std::string path, std::function<void(std::string_view)> line);
    // Sends what `next` gives until it gives "".
    Task<boost::json::value> upload(std::string method, std::string path, std::function<std::string()> next);
    Task<> download(std::string path, std::function<void(std::string_view)> bytes);
    // The connection after a 101 to this protocol.
    Task<std::unique_ptr<Stream>> upgrade(std::string path, std::string protocol);

private:
    Task<> connect();
    [[nodiscard]] http::ClientRequest request(std::string method, std::string path,
                                              std::string body = {}) const;
    Task<http::ResponseHead> send(http::ClientRequest request);
    Task<> check(const http::ResponseHead& head);
    Task<boost::json::value> read_json();

    Settings settings_;
    std::unique_ptr<http::ClientConnection> connection_;
};

}  // namespace oyat::cli
