#include "engine/microvm/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/throwing.hpp"

namespace oyat::microvm {

Fd open_file(const std::string& path, int flags, unsigned mode) {
    return Fd{sys(::open(path.c_str(), flags | O_CLOEXEC, mode), "open " + path)};
}

std::string read_whole(const std::string& path) {
    const Fd file = open_file(path, O_RDONLY);
    struct stat status{};
    sys(::fstat(file.get(), &status), "stat " + path);
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t have = 0;
    while (have < content.size()) {
        const ssize_t got =
            sys(::read(file.get(), content.data() + have, content.size() - have), "read " + path);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    content.resize(have);
    return content;
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        bytes.remove_prefix(static_cast<std::size_t>(sys(::write(fd, bytes.data(), bytes.size()), "write")));
    }
}

void write_whole(const std::string& path, std::string_view content) {
    const std::string draft = path + ".new";
    const Fd file = open_file(draft, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    in("write " + path, [&] { write_all(file.get(), content); });
    sys(::fsync(file.get()), "sync " + path);
    sys(::rename(draft.c_str(), path.c_str()), "put " + path + " in place");
}

Fd hold_lock(const std::string& path) {
    Fd file = open_file(path, O_RDWR | O_CREAT);
    sys(::flock(file.get(), LOCK_EX), "lock " + path);
    return file;
}

}  // namespace oyat::microvm
