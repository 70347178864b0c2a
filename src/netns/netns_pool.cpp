#include "netns/netns_pool.hpp"

#include <utility>

namespace oyat::netns {

Netns NetnsPool::take() {
    if (on_taken_) on_taken_();
    if (ready_.empty()) return Netns::make(shape_);
    Netns taken = std::move(ready_.back());
    ready_.pop_back();
    return taken;
}

bool NetnsPool::refill(std::size_t at_most) {
    for (; at_most > 0 && ready_.size() < wanted_; --at_most) ready_.push_back(Netns::make(shape_));
    return ready_.size() < wanted_;
}

}  // namespace oyat::netns
