#include "agent/copy_bytes.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace oyat::agent {

ssize_t copy_some(Loop& loop, int from, int to) {
    constexpr std::size_t kPiece = 1024 * 1024;
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, kPiece, 0);
    // 0 is also what it says of files in /proc, which are longer than their size; there and across file
    // systems reading and writing does it.
    const bool cannot =
        copied == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (copied > 0 || !cannot) return copied;
    const ssize_t got = ::read(from, loop.scratch(), Loop::kScratch);
    for (ssize_t done = 0; done < got;) {
        const ssize_t wrote = ::write(to, loop.scratch() + done, static_cast<std::size_t>(got - done));
        if (wrote < 0) return -1;
        done += wrote;
    }
    return got;
}

std::string unfinished_name() {
    std::uint64_t number = 0;
    static_cast<void>(::getrandom(&number, sizeof number, 0));
    std::string name = ".oyat-";
    for (int i = 0; i < 16; ++i, number >>= 4) name += "0123456789abcdef"[number & 15];
    return name;
}

}  // namespace oyat::agent
