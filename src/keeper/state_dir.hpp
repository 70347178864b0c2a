#pragma once

#include <string>

#include "base/fd.hpp"

namespace oyat::keeper {

// `<state>/keeper`, 0700: what the keeper keeps on disk. One keeper at a time holds it.
class StateDir {
public:
    explicit StateDir(const std::string& state);

    // Six letters that name this state in the kernel's lists: made once, then the same for ever.
    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] std::string path(const char* name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void check_format() const;
    void keep_line(const char* name, const std::string& line) const;

    std::string path_;
    std::string id_;
    Fd lock_;
};

// Changes with every start of the machine.
[[nodiscard]] std::string boot_id();
[[nodiscard]] std::string kernel_release();

}  // namespace oyat::keeper
