#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace oyat::gvisor {

// How gVisor's kernel gets hold of a program's system calls.
enum class Platform : std::uint8_t { systrap, ptrace };

// gVisor's program.
class Runsc {
public:
    Runsc(std::string path, Platform platform) : path_{std::move(path)}, platform_{platform} {}

    // Runs one of its commands in the view that the caller has entered (run_view.hpp), to the end; `deadline`
    // when that does not come in time. It does not outlive the caller, unlike what it starts. `output`
    // becomes the standard output of a sandbox that it starts; -1: none. Throws with its last words when it
    // fails.
    void run(const std::vector<std::string>& command, Millis limit, int output = -1) const;

    // "20260905035102-160fafc42237". Throws when there is no such program.
    [[nodiscard]] std::string version() const;

private:
    std::string path_;
    Platform platform_;
};

}  // namespace oyat::gvisor
