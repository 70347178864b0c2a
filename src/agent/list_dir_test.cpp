#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "agent/test_files.hpp"
#include "base/defer.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::AgentFiles;
using testing::code_of;
using testing::put;

TEST_F(AgentFiles, ListsDepthFirstInByteOrder) {
    fs::create_directories(dir + "/l/b/c/d");
    put(dir + "/l/a", "");
    put(dir + "/l/b/x", "");
    put(dir + "/l/Z", "");
    fs::create_symlink(dir + "/l", dir + "/start");
    fs::create_symlink("b", dir + "/l/to-b");
    const std::string root = dir + "/l";
    using Names = std::vector<std::string>;
    EXPECT_EQ(names_below(list(root), root), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_EQ(names_below(list(root, 0), root), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_EQ(names_below(list(root, 2), root), (Names{"Z", "a", "b", "b/c", "b/x", "to-b"}));
    EXPECT_EQ(names_below(list(root, 9), root), (Names{"Z", "a", "b", "b/c", "b/c/d", "b/x", "to-b"}));
    EXPECT_EQ(names_below(list(dir + "/start"), dir + "/start"), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_TRUE(list(root + "/b/c/d").entries().empty());
    EXPECT_EQ(list(root + "/a").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(list(root + "/a/b").end->code, code_of(Errc::not_found));
    EXPECT_EQ(list(root + "/none").end->code, code_of(Errc::not_found));
}

TEST_F(AgentFiles, CommandsAnswerWhileAHundredThousandFilesAreListedAndRemoved) {
    constexpr std::size_t kFiles = 100'000;
    // In memory: how fast a disk makes files is not what this is about.
    const std::string big = "/dev/shm/" + fs::path{dir}.filename().string();
    fs::create_directory(big);
    const Defer clean_up{[&] { fs::remove_all(big); }};
    for (std::size_t i = 0; i < kFiles; ++i)
        ::close(::open((big + "/f" + std::to_string(i)).c_str(), O_CREAT, 0600));
    const auto worst_of = [&](wire::Request request) {
        const auto stream = host.open(request);
        std::chrono::steady_clock::duration worst{};
        do {
            const auto from = std::chrono::steady_clock::now();
            host.shell("true");
            worst = std::max(worst, std::chrono::steady_clock::now() - from);
        } while (!host.heard(stream).end);
        EXPECT_EQ(host.heard(stream).end->code, 0u);
        return std::pair{stream, worst};
    };
    wire::Request listing;
    listing.list_dir = wire::ListDir{.path = big};
    const auto [stream, list_worst] = worst_of(listing);
    std::set<std::string> names;
    std::string last;
    for (const auto& entry : host.heard(stream).entries()) {
        EXPECT_LT(last, entry.path);
        last = entry.path;
        names.insert(entry.path);
    }
    EXPECT_EQ(names.size(), kFiles);
    EXPECT_LT(list_worst, std::chrono::seconds{2});
    wire::Request removal;
    removal.remove = wire::Remove{.path = big};
    EXPECT_LT(worst_of(removal).second, std::chrono::seconds{2});
    EXPECT_FALSE(fs::exists(big));
}

}  // namespace
}  // namespace oyat::agent
