#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::cgroup {

// The control files of one directory. `name` is relative to `dir`: "memory.max", or "i1/memory.max" from a
// Parent.
void write_control(int dir, const std::string& name, std::string_view value);

// The same, but false when the machine's kernel has no such file.
bool write_control_if_present(int dir, const std::string& name, std::string_view value);

// At most 64 KiB, as long as the longest list of processes. Nothing when the file is absent.
[[nodiscard]] std::optional<std::string> read_control(int dir, const std::string& name);
// From the start of an open file: kernfs marks a poll as seen by a read of the same descriptor.
[[nodiscard]] std::string read_open(int file);
[[nodiscard]] std::uint64_t read_number(int dir, const std::string& name);  // 0 when absent or "max"

[[nodiscard]] Fd open_control(int dir, const std::string& name, int flags);

// Whether a directory (or file) of that name is there.
[[nodiscard]] bool is_present(int dir, const std::string& name);

[[nodiscard]] std::vector<std::string> directories_in(int dir);

// The number behind `key` in lines of "key number"; 0 when the key is absent.
[[nodiscard]] std::uint64_t keyed_number(std::string_view text, std::string_view key);

// Whether a list of words ("cpu io memory") has this one.
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);

// The control files of one group below a Parent's directory.
class GroupFiles {
public:
    GroupFiles(int parent, const std::string& group) : parent_{parent}, group_{group} {}

    void write(std::string_view file, std::string_view value) const {
        write_control(parent_, path(file), value);
    }
    bool write_if_present(std::string_view file, std::string_view value) const {
        return write_control_if_present(parent_, path(file), value);
    }
    [[nodiscard]] std::string read(std::string_view file) const {
        return read_control(parent_, path(file)).value_or("");
    }
    [[nodiscard]] std::uint64_t number(std::string_view file) const {
        return read_number(parent_, path(file));
    }
    [[nodiscard]] Fd open(std::string_view file, int flags) const {
        return open_control(parent_, path(file), flags);
    }

private:
    [[nodiscard]] std::string path(std::string_view file) const { return (group_ + "/").append(file); }

    int parent_;
    const std::string& group_;
};

}  // namespace oyat::cgroup
