#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "base/throwing.hpp"
#include "engine/common/work.hpp"
#include "keeper/loop.hpp"

namespace oyat::keeper {

// Work that goes on beside the loop, with what is to be done when it is over. All of it is given up at the
// end.
class Chores {
public:
    // `idle` is called whenever the last of it is over.
    Chores(Loop& loop, std::function<void()> idle) : loop_{loop}, idle_{std::move(idle)} {}
    ~Chores() {
        for (const Chore& chore : chores_) {
            if (chore.watched >= 0) loop_.forget(chore.watched);
        }
    }
    Chores(const Chores&) = delete;
    Chores& operator=(const Chores&) = delete;

    // `done` may be called before this returns. Throws, with the work given up, when the loop can't take it.
    template <class T>
    void start(std::unique_ptr<engine::Work<T>> work, std::function<void(Result<T>)> done) {
        if (std::optional<Result<T>> outcome = work->advance()) {
            work.reset();
            return done(*std::move(outcome));
        }
        const int fd = work->fd();
        const auto chore = chores_.emplace(chores_.begin());
        chore->step = [this, chore, shared = std::shared_ptr<engine::Work<T>>{std::move(work)},
                       done = std::move(done)] {
            unwatch(chore);  // a work may go on to another descriptor, and the number may be the same
            std::optional<Result<T>> outcome = shared->advance();
            if (!outcome) return watch(chore, shared->fd());
            chores_.erase(chore);
            done(*std::move(outcome));
            if (chores_.empty()) idle_();
        };
        try {
            watch(chore, fd);
        } catch (const Error&) {
            chores_.erase(chore);
            throw;
        }
    }

    [[nodiscard]] std::size_t count() const noexcept { return chores_.size(); }

private:
    struct Chore {
        int watched = -1;
        std::function<void()> step;
    };
    using Place = std::list<Chore>::iterator;

    void watch(Place chore, int fd) {
        loop_.watch(fd, [chore](std::uint32_t) {
            const std::function<void()> step = chore->step;  // outlives the chore, its work with it
            step();
        });
        chore->watched = fd;
    }
    void unwatch(Place chore) {
        loop_.forget(chore->watched);
        chore->watched = -1;
    }

    Loop& loop_;
    std::function<void()> idle_;
    std::list<Chore> chores_;
};

}  // namespace oyat::keeper
