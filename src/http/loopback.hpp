#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/throwing.hpp"
#include "http/server.hpp"
#include "io/connect.hpp"
#include "io/stream.hpp"
#include "io/timer.hpp"

// For tests: a server on a port of loopback and clients that speak raw bytes.
namespace oyat::http::testing {

inline Task<std::unique_ptr<Stream>> connect_loopback(std::uint16_t port) {
    const SocketAddress address = or_throw(SocketAddress::ip("127.0.0.1", port));
    Fd socket = co_await connect(address, Millis{5000});
    co_return make_stream(co_await boost::asio::this_coro::executor, std::move(socket));
}

// Everything until the other side ends; what came before a reset too.
inline Task<std::string> read_to_end(Stream& stream) {
    std::string all;
    std::array<char, 16384> buffer;
    try {
        while (const std::size_t got = co_await stream.read_some(buffer)) all.append(buffer.data(), got);
    } catch (const Error& e) {
        if (e.code() != Errc::unavailable) throw;
    }
    co_return all;
}

inline Task<std::string> read_until(Stream& stream, std::string end) {
    std::string all;
    std::array<char, 1> byte;
    while (!all.ends_with(end) && co_await stream.read_some(byte) == 1) all.push_back(byte[0]);
    co_return all;
}

// Sends the bytes on a connection of their own and returns all that comes back until the server closes.
inline Task<std::string> exchange_raw(std::uint16_t port, std::string bytes) {
    auto stream = co_await connect_loopback(port);
    co_await stream->write_all(bytes);
    co_return co_await with_timeout(Millis{20'000}, "raw exchange", read_to_end(*stream));
}

inline std::size_t count_of(const std::string& text, std::string_view word) {
    std::size_t count = 0;
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++count;
    return count;
}

inline bool has(const std::string& text, std::string_view word) {
    return text.find(word) != text.npos;
}

// Answers that come in pieces or break off, by the path that asks for them; false for other paths.
inline Task<bool> answered_oddly(Exchange& exchange) {
    const std::string& path = exchange.request().path;
    if (path == "/stream") {
        co_await exchange.start(200, {{"Content-Type", "text/plain"}}, std::nullopt);
        co_await exchange.write("one,");
        co_await exchange.write("two");
        co_await exchange.finish();
    } else if (path == "/break") {
        co_await exchange.start(200, {}, std::nullopt);
        co_await exchange.write("begun");
        throw Error{Errc::internal, "broke in the middle"};
    } else if (path == "/short") {
        co_await exchange.start(200, {}, 10);
        co_await exchange.write("begun");
        co_await exchange.finish();
    } else {
        co_return false;
    }
    co_return true;
}

}  // namespace oyat::http::testing
