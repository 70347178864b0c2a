#include "agent/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace oyat::agent {

std::string read_small_file(int directory, const char* name, std::size_t most) {
    const Fd file{::openat(directory, name, O_RDONLY | O_CLOEXEC)};
    std::string text;
    char piece[4096];
    while (file && text.size() < most) {
        const ssize_t got = ::read(file.get(), piece, sizeof piece);
        if (got <= 0) break;
        text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
}

bool write_small_file(int directory, const char* name, std::string_view value) {
    const Fd file{::openat(directory, name, O_WRONLY | O_CLOEXEC)};
    return file && ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

}  // namespace oyat::agent
