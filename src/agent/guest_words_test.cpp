#include "agent/guest_words.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

TEST(GuestWords, AreFoundAmongThoseOfTheKernel) {
    const auto words =
        parse_guest_words("panic=-1 quiet oyat.generation=4711 x.oyat.id=no oyat.id=i0abc tsc=reliable\n");
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ(words->generation, 4711u);
    EXPECT_EQ(words->id, "i0abc");
}

TEST(GuestWords, AreRefusedWhenTheyMakeNoSense) {
    for (const char* line :
         {"", "quiet", "oyat.id=i0abc", "oyat.generation=7", "oyat.generation= oyat.id=i0abc",
          "oyat.generation=x oyat.id=i0abc", "oyat.generation=7x oyat.id=i0abc",
          "oyat.generation=99999999999999999999 oyat.id=i0abc",
          "oyat.generation=7 oyat.id=", "oyat.generation=7 oyat.id=../x", "oyat.generation=7 oyat.id=A"}) {
        EXPECT_FALSE(parse_guest_words(line)) << line;
    }
    EXPECT_FALSE(parse_guest_words("oyat.generation=7 oyat.id=" + std::string(64, 'a')));
}

TEST(GuestWords, OrderOfModulesStaysBelowItsDirectory) {
    EXPECT_EQ(parse_module_order("virtio_ring.ko\nvirtio.ko\n\n../etc/x\n.\nlast.ko"),
              (std::vector<std::string>{"virtio_ring.ko", "virtio.ko", "last.ko"}));
}

}  // namespace
}  // namespace oyat::agent
