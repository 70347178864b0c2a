#include "base/log.hpp"
#include "base/throwing.hpp"
#include "keeper/boxes.hpp"

// The warm boxes that wait for an owner: made when nothing else is to be done, taken away when nobody needs
// them.
namespace oyat::keeper {
namespace {

constexpr Millis kTrim{5 * 60'000};

}  // namespace

void Boxes::warm_up(const std::string& digest) {
    pool_.note_use(digest);
    refill_later(Millis{0});
}

void Boxes::cool_down(const std::string& digest) {
    pool_.forget(digest);
    drop_surplus();
}

void Boxes::refill_later(Millis delay) {
    loop_.cancel(refill_timer_);
    refill_timer_ = loop_.after(delay, [this] { refill(); });
}

// One at a time, with room for requests in between.
void Boxes::refill() {
    drop_surplus();
    const std::optional<std::string> digest = pool_.missing();
    if (!digest || closed_) return;
    try {
        factory_.require_room();
    } catch (const Error& error) {
        return put_in_pool(*digest, std::unexpected{error});
    }
    make(factory_.plan(*digest, kPooledEngine, or_throw(options_.limits.judge({}))),
         [this, digest = *digest](Result<Made> made) { put_in_pool(digest, std::move(made)); });
}

void Boxes::put_in_pool(const std::string& digest, Result<Made> made) {
    try {
        Box& box = insert(or_throw(std::move(made)).box);
        factory_.show_facts(box);
        pool_.put(digest, box.record.id);
        refill_later(kRefillDelay);
    } catch (const Error& error) {
        log::warn("could not start a warm sandbox", {{"why", error.message()}});
        pool_.forget(digest);
        refill_later(kRefillRetry);
    }
}

void Boxes::drop_surplus() {
    for (const std::string& id : pool_.surplus()) {
        if (const auto found = boxes_.find(id); found != boxes_.end()) destroy(found->second);
    }
}

void Boxes::trim_later() {
    if (options_.pool.most <= options_.pool.least) return;
    trim_timer_ = loop_.after(kTrim, [this] {
        pool_.trim();
        drop_surplus();
        trim_later();
    });
}

}  // namespace oyat::keeper
