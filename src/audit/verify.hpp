#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audit/line.hpp"

namespace oyat::audit {

// The first line of a chain that cannot be trusted. What stands before it can.
struct Finding {
    std::string file;
    std::uint64_t line = 0;  // from 1
    std::uint64_t offset = 0;
    std::string sentence;
};

struct ChainReport {
    std::string chain;
    std::uint32_t first_segment = 0;  // above 1: the ones before were dropped by retention
    std::uint32_t last_segment = 0;
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    Digest head{};
    bool closed = false;  // its last line is the seal of its end
    std::vector<std::string>
        gaps;  // what the chain itself says is missing: torn lines, suppressed noise is not among them
    std::optional<Finding> broken;
    std::optional<std::string> missing;  // the server's chain has sealed more of it than there is
};

struct Report {
    std::vector<ChainReport> chains;
    [[nodiscard]] bool sound() const;
    [[nodiscard]] std::string text() const;  // for people, a line a chain
};

// Checks one segment, or all chains of a directory and their seals in the server's chain. Needs no server,
// and reads while one writes: a line that is being written is not a finding. Throws Error when something
// cannot be read.
//
// What it shows: that nobody changed, removed or inserted a line without rewriting everything after it in
// this chain and in the server's. It does not show who wrote the lines, nor that the newest ones were not cut
// off together with their seals.
[[nodiscard]] Report verify(const std::filesystem::path& file_or_directory);

}  // namespace oyat::audit
