#pragma once

#include "base/error.hpp"
#include "base/log.hpp"
#include "keeper/loop.hpp"
#include "netns/netns_pool.hpp"

namespace oyat::keeper {

// Keeps the namespaces' pool full, one at a time, when nothing else is to be done. No timer runs while it is.
class NamespaceRefill {
public:
    NamespaceRefill(Loop& loop, netns::NetnsPool& pool) : loop_{loop}, pool_{pool} {
        pool_.on_taken([this] { soon(); });
        soon();
    }
    ~NamespaceRefill() {
        pool_.on_taken({});
        loop_.cancel(timer_);
    }
    NamespaceRefill(const NamespaceRefill&) = delete;
    NamespaceRefill& operator=(const NamespaceRefill&) = delete;

private:
    static constexpr Millis kDelay{10};    // requests come first
    static constexpr Millis kRetry{5000};  // after a failure, which each try would log

    void soon(Millis delay = kDelay) {
        if (timer_ == 0) timer_ = loop_.after(delay, [this] { refill(); });
    }
    void refill() {
        timer_ = 0;
        try {
            if (pool_.refill(1)) soon();
        } catch (const Error& error) {
            log::warn("could not make a network namespace", {{"why", error.message()}});
            soon(kRetry);
        }
    }

    Loop& loop_;
    netns::NetnsPool& pool_;
    Loop::TimerId timer_ = 0;
};

}  // namespace oyat::keeper
