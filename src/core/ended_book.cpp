#include "core/ended_book.hpp"

#include <utility>

namespace oyat::core {

void EndedBook::add(SandboxRecord record) {
    record.env.clear();  // may be large, and nobody asks for it any more
    order_.push_back(record.id);
    records_.insert_or_assign(std::string{order_.back()}, std::move(record));
}

const SandboxRecord* EndedBook::find(const std::string& id) const {
    const auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

std::vector<std::string> EndedBook::take_surplus(WallTime now) {
    std::vector<std::string> gone;
    while (!order_.empty()) {
        const auto oldest = records_.find(order_.front());
        const bool known = oldest != records_.end();
        if (known && order_.size() <= kMost && now - oldest->second.ended_at < kKept) break;
        if (known) {
            gone.push_back(oldest->first);
            records_.erase(oldest);
        }
        order_.pop_front();
    }
    return gone;
}

}  // namespace oyat::core
