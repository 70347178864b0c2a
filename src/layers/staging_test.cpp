#include "layers/staging.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/throwing.hpp"
#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

class StagingTest : public MachineTest {
protected:
    void SetUp() override {
        MachineTest::SetUp();
        if (IsSkipped()) return;
        for (const char* name : {"u", "w"}) std::filesystem::create_directories(dir_ + "/box/" + name);
    }
    Fd box() { return open_path(dir_ + "/box"); }
};

TEST_F(StagingTest, ARootShowsTheLayersNewestFirstWithTheSandboxesIds) {
    const Fd old = open_path(make_layer("old", "both", "old"));
    const Fd fresh = open_path(make_layer("fresh", "both", "new"));
    std::ofstream{dir_ + "/old/below"} << "still there";
    const IdRange range = ids_->take();
    const Fd upper = box();
    const Fd root = staging_->make_root(std::array{fresh.get(), old.get()}, upper.get(), range);
    EXPECT_EQ(text_of(root.get(), "both"), "new");
    EXPECT_EQ(text_of(root.get(), "below"), "still there");
    struct stat facts{};
    ASSERT_EQ(::fstatat(root.get(), "both", &facts, 0), 0);
    EXPECT_EQ(facts.st_uid, range.base);
}

TEST_F(StagingTest, WritesGoToTheBoxWithPlainIdsAndTheLayerStaysAsItWas) {
    const Fd layer = open_path(make_layer("layer", "file", "layer"));
    const IdRange range = ids_->take();
    const Fd upper = box();
    const Fd root = staging_->make_root(std::array{layer.get()}, upper.get(), range);
    {
        const Fd file{::openat(root.get(), "file", O_WRONLY | O_TRUNC | O_CLOEXEC)};
        ASSERT_TRUE(file) << std::strerror(errno);
        ASSERT_EQ(::write(file.get(), "mine", 4), 4);
    }
    EXPECT_EQ(text_of(upper.get(), "u/file"), "mine");
    EXPECT_EQ(text_of(layer.get(), "file"), "layer");
    struct stat facts{};
    ASSERT_EQ(::fstatat(upper.get(), "u/file", &facts, 0), 0);
    EXPECT_EQ(facts.st_uid, 0U);
}

TEST_F(StagingTest, ARootHasNoDevicesButSetUserIdProgramsWork) {
    const Fd layer = open_path(make_layer("layer", "file", ""));
    const Fd upper = box();
    const Fd root = staging_->make_root(std::array{layer.get()}, upper.get(), ids_->take());
    struct statvfs facts{};
    ASSERT_EQ(::fstatvfs(root.get(), &facts), 0);
    EXPECT_TRUE(facts.f_flag & ST_NODEV);
    EXPECT_TRUE(facts.f_flag & ST_NOATIME);
    EXPECT_FALSE(facts.f_flag & ST_NOSUID);
    EXPECT_FALSE(facts.f_flag & ST_RDONLY);
}

// Threats J-23: with ids outside the map the kernel reports success and mounts read-only.
TEST_F(StagingTest, ARootThatWouldBeReadOnlyIsAnError) {
    const Fd layer = open_path(make_layer("layer", "file", ""));
    IdRange range = ids_->take();
    range.base += IdRange::kSize;  // not what its user namespace maps
    const Fd upper = box();
    EXPECT_THROW((void)staging_->make_root(std::array{layer.get()}, upper.get(), range), Error);
}

TEST_F(StagingTest, NothingStaysAttachedAfterSuccessOrFailure) {
    const auto mounts = [] {
        std::ifstream file{"/proc/self/mountinfo"};
        return std::count(std::istreambuf_iterator<char>{file}, {}, '\n');
    };
    const auto before = mounts();
    const Fd layer = open_path(make_layer("layer", "file", ""));
    const IdRange range = ids_->take();
    const Fd upper = box();
    {
        const Fd root = staging_->make_root(std::array{layer.get()}, upper.get(), range);
        EXPECT_EQ(mounts(), before);
    }
    EXPECT_THROW((void)staging_->make_root(std::array{layer.get(), -1}, upper.get(), range), Error);
    EXPECT_EQ(mounts(), before);
}

TEST_F(StagingTest, SixtyLayersFitAndMoreAreRefused) {
    std::vector<Fd> layers;
    std::vector<int> lowers;
    for (int i = 0; i < 61; ++i) {
        layers.push_back(open_path(make_layer("layer" + std::to_string(i), std::to_string(i), "")));
        lowers.push_back(layers.back().get());
    }
    const IdRange range = ids_->take();
    const Fd upper = box();
    EXPECT_THROW((void)staging_->make_root(lowers, upper.get(), range), Error);
    lowers.pop_back();
    const Fd root = staging_->make_root(lowers, upper.get(), range);
    EXPECT_EQ(::faccessat(root.get(), "59", F_OK, 0), 0);
}

TEST_F(StagingTest, TheHostDoesNotSeeOurMounts) {
    std::ifstream file{"/proc/1/mountinfo"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(text.find(dir_), std::string::npos);
}

}  // namespace
}  // namespace oyat::layers
