#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "http/front.hpp"

namespace oyat::daemon {

// Every request of every listener: the first front that handles it gets it. A door is told of each request,
// by name of its front, for the figures.
class FrontDoor {
public:
    explicit FrontDoor(std::function<void(std::string_view)> on_request)
        : on_request_{std::move(on_request)} {}

    void add(std::string_view name, http::Front& front) { fronts_.push_back({name, &front}); }
    Task<> handle(http::Exchange& exchange);
    [[nodiscard]] std::vector<std::string> routes() const;  // of all fronts

private:
    struct Named {
        std::string_view name;
        http::Front* front;
    };
    std::vector<Named> fronts_;
    std::function<void(std::string_view)> on_request_;
};

}  // namespace oyat::daemon
