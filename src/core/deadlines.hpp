#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace oyat::core {

// When whose time is up, on the steady clock: a jump of the wall clock ends nobody's life.
class Deadlines {
public:
    // One for each id; a new one takes the place of the old.
    void set(const std::string& id, MonoTime when) {
        drop(id);
        times_.emplace(id, when);
        order_.emplace(when, id);
    }
    void drop(const std::string& id) {
        const auto found = times_.find(id);
        if (found == times_.end()) return;
        order_.erase({found->second, id});
        times_.erase(found);
    }
    // Those whose time has come, earliest first; they are dropped.
    [[nodiscard]] std::vector<std::string> take_due(MonoTime now) {
        std::vector<std::string> due;
        while (!order_.empty() && order_.begin()->first <= now) {
            due.push_back(order_.begin()->second);
            drop(std::string{due.back()});
        }
        return due;
    }
    [[nodiscard]] std::optional<MonoTime> next() const {
        return order_.empty() ? std::nullopt : std::optional{order_.begin()->first};
    }

private:
    std::map<std::string, MonoTime> times_;
    std::set<std::pair<MonoTime, std::string>> order_;
};

}  // namespace oyat::core
