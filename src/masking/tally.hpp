#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace oyat::masking {

// What was hidden in a stream.
struct Tally {
    std::uint64_t count = 0;  // of replacements
    std::map<std::string, std::uint64_t> by_name;
    // Of them, those where a beginning had been shown before it was known what it belongs to, or where the
    // stream ended before it was.
    std::uint64_t partial = 0;

    void add(const Tally& other) {
        count += other.count;
        partial += other.partial;
        for (const auto& [name, times] : other.by_name) by_name[name] += times;
    }
};

}  // namespace oyat::masking
