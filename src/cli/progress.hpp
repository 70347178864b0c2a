#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace oyat::cli {

// One line on a person's terminal about bytes that are under way, renewed a few times a second. Silent where
// nobody looks, and for what takes less than a second.
class Progress {
public:
    enum class Where { terminal, nowhere };
    explicit Progress(Where where);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();  // takes the line away

    void begin(std::string name, std::optional<std::uint64_t> total);
    void add(std::uint64_t bytes);

private:
    void show(MonoTime now);

    bool on_;
    bool shown_ = false;
    std::string name_;
    std::optional<std::uint64_t> total_;
    std::uint64_t bytes_ = 0;
    MonoTime began_, next_;
};

// "big.bin  120 MiB of 300 MiB  85 MiB/s", at most `width` columns.
[[nodiscard]] std::string show_progress(std::string name, std::uint64_t bytes,
                                        std::optional<std::uint64_t> total, Millis since, std::size_t width);

}  // namespace oyat::cli
