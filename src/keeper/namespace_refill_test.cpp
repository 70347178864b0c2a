#include "keeper/namespace_refill.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

namespace oyat::keeper {
namespace {

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
}

// At a machine's limit the log would else get a hundred lines a second.
TEST(NamespaceRefill, WaitsBeforeItTriesAgainWhatFailed) {
    Loop loop;
    netns::NetnsPool pool{netns::Shape::loopback, 1};
    const NamespaceRefill refill{loop, pool};
    loop.after(Millis{200}, [&] { loop.stop(); });

    rlimit usual{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
    testing::internal::CaptureStderr();
    const rlimit none_left{3, usual.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
    loop.run();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    EXPECT_EQ(count(testing::internal::GetCapturedStderr(), "could not make a network namespace"), 1U);
}

}  // namespace
}  // namespace oyat::keeper
