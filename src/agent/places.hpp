#pragma once

#include <cstdint>
#include <string>

#include "agent/status.hpp"
#include "agent/users.hpp"
#include "base/fd.hpp"

// How files are reached, always within an ActingAs. The agent runs in the sandbox's own /proc, where its
// descriptors and memory are open to itself: so no magic link is followed (/proc/self/fd, /proc/PID/root and
// the like), and nothing below the agent's own /proc directory is opened.
namespace oyat::agent {

// "path 'x' does not exist" and its relatives.
[[nodiscard]] Status path_refusal(int err, std::string_view path);

// open(2) relative to a directory (or AT_FDCWD), close-on-exec and never waiting for the other end of a FIFO.
[[nodiscard]] Answer<Fd> open_at(int directory, const char* path, std::uint64_t flags,
                                 std::uint32_t mode = 0);
[[nodiscard]] Answer<Fd> open_path(const std::string& path, std::uint64_t flags, std::uint32_t mode = 0);

// A name in an open directory (O_PATH); the name of the root directory is ".".
struct Place {
    Fd directory;
    std::string name;
};

// Of an absolute path, whose last name need not exist.
[[nodiscard]] Answer<Place> place_of(const std::string& path);
// The same, and what is missing on the way is made (0777 & ~umask, owned by the one who acts).
[[nodiscard]] Answer<Place> make_place(const std::string& path);

// Only root makes things directly below "/", and /app or /workspace is where many clients begin. Who names
// nobody in a request is the sandbox's owner: for them a missing directory there is made and given to
// `owner`, the default user. True when it was made. The one call here that comes outside of an ActingAs.
bool found_top_directory(const std::string& name, const User& owner);
// The first name of an absolute path that has more than one, else "".
[[nodiscard]] std::string top_parent_of(const std::string& path);

// A path to what an O_PATH descriptor stands for, for the system calls that take only paths.
[[nodiscard]] std::string path_of_fd(int fd);

}  // namespace oyat::agent
