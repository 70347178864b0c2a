#include "layers/trial.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/defer.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

constexpr const char* kBox = "trial";
constexpr std::uint64_t kLimit = 16 << 20;
constexpr uid_t kNobody = 65534;  // root is above project quotas on ext4

// Child: writes twice the limit; 0 when it was refused for want of room.
int overfill(int box) {
    const Fd file{::openat(box, "u/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    if (!file || ::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0)
        return 2;
    std::array<char, 64 * 1024> block;
    block.fill('x');
    for (std::uint64_t written = 0; written < 2 * kLimit; written += block.size()) {
        const ssize_t done = ::write(file.get(), block.data(), block.size());
        if (done < 0) return errno == ENOSPC || errno == EDQUOT ? 0 : 2;
    }
    return 1;
}

}  // namespace

void hold_to_limit(Store& store) {
    in("trial of the disk limit", [&] {
        store.discard(kBox);  // of a trial that was cut short
        if (store.trash() > 0) store.remove_discarded(store.trash_directory());
        const Defer clean{[&] {
            store.discard(kBox);
            store.remove_discarded(store.trash_directory());
        }};
        const Fd box = store.make_box(kBox, {.bytes = kLimit, .inodes = 1000});
        const pid_t child = sys(::fork(), "fork");
        if (child == 0) ::_exit(overfill(box.get()));
        int status = 0;
        sys(::waitpid(child, &status, 0), "wait for the writer");
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) throw Error{Errc::internal, "the writer failed"};
        if (WEXITSTATUS(status) == 1) throw Error{Errc::unimplemented, "the kernel let it pass"};
    });
}

}  // namespace oyat::layers
