#include "layers/copy_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <string>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

TEST(CopyFile, KeepsContentLengthAndHoles) {
    const Fd from{::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    const Fd to{::memfd_create("copy", MFD_CLOEXEC)};
    constexpr off_t kFar = 64 << 20;
    sys(::pwrite(from.get(), "near", 4, 0), "write");
    sys(::pwrite(from.get(), "far", 3, kFar), "write");
    sys(::ftruncate(from.get(), 2 * kFar), "truncate");
    copy_file(from.get(), to.get());
    struct stat status{};
    sys(::fstat(to.get(), &status), "stat");
    EXPECT_EQ(status.st_size, 2 * kFar);
    EXPECT_LT(status.st_blocks * 512, 1 << 20) << "holes were written";
    std::string text(4, '\0');
    sys(::pread(to.get(), text.data(), 4, 0), "read");
    EXPECT_EQ(text, "near");
    sys(::pread(to.get(), text.data(), 4, kFar), "read");
    EXPECT_EQ(text, (std::string_view{"far\0", 4}));
}

}  // namespace
}  // namespace oyat::layers
