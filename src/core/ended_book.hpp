#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sandbox_record.hpp"

namespace oyat::core {

// The records of sandboxes that ended within the last day, so that "what became of it" has an answer. At most
// kMost: a server that makes and kills many keeps the latest.
class EndedBook {
public:
    static constexpr std::size_t kMost = 10'000;
    static constexpr auto kKept = std::chrono::hours{24};

    void add(SandboxRecord record);
    [[nodiscard]] const SandboxRecord* find(const std::string& id) const;
    // Drops what is too old or too much; returns the ids, to be forgotten elsewhere too.
    [[nodiscard]] std::vector<std::string> take_surplus(WallTime now);

private:
    std::map<std::string, SandboxRecord> records_;
    std::deque<std::string> order_;  // as added: by time of the end
};

}  // namespace oyat::core
