#pragma once

#include <cstdint>
#include <string>

#include "api/native/fakes_for_tests.hpp"
#include "http/loopback.hpp"
#include "http/server.hpp"
#include "io/run.hpp"

// The front behind a real socket. For the tests of this room.
namespace oyat::native::testing {

inline constexpr std::uint8_t kAdmin = 8, kRead = 2;

struct Door {
    House house;
    std::uint16_t port = 0;

    Task<std::string> send(std::string method, std::string path, std::string key, std::string body = "") {
        std::string request = method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
        if (!key.empty()) request += "X-API-Key: " + key + "\r\n";
        if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        co_return co_await http::testing::exchange_raw(port, request + "\r\n" + body);
    }
};

inline void at_the_door(Task<> (*body)(Door&)) {
    Door door;
    Loop loop;
    http::Server server{loop.executor(),
                        [&door](http::Exchange& exchange) { return door.house.front.handle(exchange); }};
    door.port = server.listen("127.0.0.1", 0);
    loop.run([](http::Server& s, Door& d, Task<> (*run)(Door&)) -> Task<> {
        co_await run(d);
        co_await s.close(Millis{0});
    }(server, door, body));
}

}  // namespace oyat::native::testing
