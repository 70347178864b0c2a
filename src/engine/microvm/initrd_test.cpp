#include "engine/microvm/initrd.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/throwing.hpp"
#include "engine/microvm/cpio.hpp"

namespace oyat::microvm {
namespace {

// As in a module's .modinfo.
std::string module(std::string_view needs) {
    return std::string{"\177ELF license=GPL"} + '\0' + "depends=" + std::string{needs} + '\0' + "name=x" +
           '\0';
}

TEST(Modules, ComeAfterWhatTheyNeed) {
    const Modules modules{{"virtio", module("virtio_ring")},
                          {"virtio_net", module("virtio_ring,virtio,net_failover")},
                          {"net_failover", module("failover")},
                          {"failover", module("")},
                          {"virtio_ring", module("")}};
    const std::vector<std::string> order = or_throw(load_order(modules));
    ASSERT_EQ(order.size(), 5U);
    const auto place = [&](const char* name) { return std::ranges::find(order, name) - order.begin(); };
    EXPECT_LT(place("virtio_ring"), place("virtio"));
    EXPECT_LT(place("virtio"), place("virtio_net"));
    EXPECT_LT(place("failover"), place("net_failover"));
    EXPECT_LT(place("net_failover"), place("virtio_net"));
}

TEST(Modules, MayNeedWhatTheKernelHasBuiltIn) {
    EXPECT_EQ(or_throw(load_order({{"erofs", module("libcrc32c")}})), std::vector<std::string>{"erofs"});
}

TEST(Modules, InACircleAreRefused) {
    EXPECT_FALSE(load_order({{"a", module("b")}, {"b", module("a")}}));
}

TEST(Modules, AreNamedByTheirFiles) {
    EXPECT_EQ(module_name("virtio-rng.ko"), "virtio_rng");
    EXPECT_EQ(module_name("overlay.ko.xz"), "");
}

TEST(Cpio, IsWhatTheKernelDocuments) {
    Cpio archive;
    archive.add("init", Cpio::Mode::program, "agent");
    const std::string bytes = archive.finish();
    EXPECT_EQ(bytes.substr(0, 110),
              "07070100000001000081ed00000000000000000000000100000000"
              "00000005000000000000000000000000000000000000000500000000");
    EXPECT_EQ(bytes.substr(110, 6), (std::string_view{"init\0\0", 6}));
    EXPECT_EQ(bytes.substr(116, 8), (std::string_view{"agent\0\0\0", 8}));
    EXPECT_EQ(bytes.substr(124, 6), "070701");
    EXPECT_NE(bytes.find("TRAILER!!!"), std::string::npos);
    EXPECT_EQ(bytes.size() % 4, 0U);
}

TEST(Initrd, ListsItsModulesInOrder) {
    const std::string bytes =
        or_throw(make_initrd("agent", {{"virtio", module("virtio_ring")}, {"virtio_ring", module("")}}));
    EXPECT_NE(bytes.find("virtio_ring.ko\nvirtio.ko\n"), std::string::npos);
    EXPECT_EQ(bytes, or_throw(make_initrd("agent",
                                          {{"virtio", module("virtio_ring")}, {"virtio_ring", module("")}})));
}

}  // namespace
}  // namespace oyat::microvm
