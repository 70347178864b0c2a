#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/e2b/services.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// The sandbox that a signed file link belongs to, or what to answer instead.
struct LinkPlace {
    std::shared_ptr<core::Sandbox> sandbox;
    int status = 0;
    std::string sentence;
};

// Clients that know the server by one URL make signed links that name no sandbox. Tokens are random and
// unique, so the one sandbox whose token gives the signature is it. Guessing is slowed: after some failures
// from one address further ones are refused unread, for a minute.
class LinkLookup {
public:
    explicit LinkLookup(Services& services) : services_{services} {}

    [[nodiscard]] LinkPlace find(const http::RequestHead& head);

private:
    struct Failures {
        MonoTime since{};
        int count = 0;
    };
    bool is_slowed(const std::string& peer);
    void count_failure(const std::string& peer);

    Services& services_;
    std::map<std::string, Failures> failures_;
};

}  // namespace oyat::e2b
