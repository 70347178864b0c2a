#include "engine/microvm/kernel_image.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/throwing.hpp"
#include "engine/microvm/lz4.hpp"

namespace oyat::microvm {
namespace {

constexpr std::string_view kFrame{"\x02\x21\x4c\x18", 4};

std::string frame(std::string_view block) {
    std::string bytes{kFrame};
    bytes.push_back(static_cast<char>(block.size()));
    return bytes.append(3, '\0').append(block);
}

TEST(Lz4, UnpacksLiteralsAndMatches) {
    // "ab", then six bytes from two back, then "c".
    EXPECT_EQ(or_throw(unpack_lz4_legacy(frame({"\x22"
                                                "ab\x02\x00\x10"
                                                "c",
                                                7}),
                                         100)),
              "ababababc");
}

TEST(Lz4, IgnoresTheLengthThatTheKernelsBuildAppends) {
    std::string bytes = frame({"\x10x", 2});
    bytes.append("\x01\x00\x00\x00", 4);
    EXPECT_EQ(or_throw(unpack_lz4_legacy(bytes, 100)), "x");
}

TEST(Lz4, RefusesWhatIsDamaged) {
    EXPECT_FALSE(unpack_lz4_legacy("gzip", 100));
    EXPECT_FALSE(unpack_lz4_legacy(frame({"\xf0", 1}), 100)) << "a length without its end";
    EXPECT_FALSE(unpack_lz4_legacy(frame({"\x10x\x02\x00", 4}), 100)) << "a match before the beginning";
    EXPECT_FALSE(unpack_lz4_legacy(frame({"\x10x\x00\x00\x00", 5}), 100)) << "a match of nothing";
    EXPECT_FALSE(unpack_lz4_legacy(frame({"\x1fx\x01\x00\xff\x00", 6}), 100)) << "more than is allowed";
}

TEST(KernelImage, RefusesWhatIsNoKernel) {
    EXPECT_FALSE(kernel_release("MZ"));
    EXPECT_FALSE(unpack_kernel(std::string(4096, '\0')));
}

TEST(KernelImage, OfDebianBecomesAnElfFile) {
    std::ifstream file{"/usr/lib/oyat/kernel/vmlinuz", std::ios::binary};
    if (!file) GTEST_SKIP() << "no kernel: run scripts/make-kernel";
    const std::string image{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_TRUE(or_throw(kernel_release(image)).contains("cloud-amd64"));
    EXPECT_TRUE(or_throw(unpack_kernel(image)).starts_with("\177ELF"));
}

}  // namespace
}  // namespace oyat::microvm
