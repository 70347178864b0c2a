#pragma once

#include <cstdint>
#include <filesystem>

namespace oyat::audit {

// Disk space that is held for the worst hour: when the file system is full it is given up, so that the record
// can still say what was refused and how what was running ended.
class Reserve {
public:
    Reserve(std::filesystem::path file, std::uint64_t bytes) : file_{std::move(file)}, bytes_{bytes} {}

    // True when it is held: it was already, or there is room for it and as much again.
    bool take();
    void give_up();
    [[nodiscard]] bool held() const { return held_; }

private:
    std::filesystem::path file_;
    std::uint64_t bytes_;
    bool held_ = false;
};

}  // namespace oyat::audit
