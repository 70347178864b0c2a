#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "netns/netns.hpp"

namespace oyat::netns {

// Ready namespaces of one shape, made off the request's path. They do not depend on the template and are
// never given back.
class NetnsPool {
public:
    NetnsPool(Shape shape, std::size_t wanted) : shape_{shape}, wanted_{wanted} {}

    // A ready one, or a new one when the pool is drained.
    [[nodiscard]] Netns take();

    // Makes at most `at_most` of those that are missing, so that the caller's loop never stands still for
    // long. True when more are missing: call again when idle.
    bool refill(std::size_t at_most);
    // Called each time one is taken.
    void on_taken(std::function<void()> callback) { on_taken_ = std::move(callback); }

    [[nodiscard]] std::size_t ready() const noexcept { return ready_.size(); }
    [[nodiscard]] std::size_t wanted() const noexcept { return wanted_; }

private:
    Shape shape_;
    std::size_t wanted_;
    std::vector<Netns> ready_;
    std::function<void()> on_taken_;
};

}  // namespace oyat::netns
