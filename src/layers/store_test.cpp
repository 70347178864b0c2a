#include "layers/store.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <array>

#include "base/throwing.hpp"
#include "layers/btrfs.hpp"
#include "layers/directory.hpp"
#include "layers/loop_mount.hpp"
#include "layers/program.hpp"
#include "layers/sweeper.hpp"
#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

// A kind of store, and the file system that the state must stand on for it: the machine's own when `mkfs` is
// empty.
struct Case {
    const char* kind;
    const char* fstype = "";
    std::vector<std::string> mkfs = {};
    const char* options = "";
};

// The promises of Store, held to for each kind that works on this machine.
class StoreTest : public MachineTest, public testing::WithParamInterface<Case> {
protected:
    void SetUp() override {
        MachineTest::SetUp();
        if (IsSkipped()) return;
        try {
            if (!GetParam().mkfs.empty()) mount_state();
            store_ = open(GetParam().kind);
        } catch (const Error& e) {
            GTEST_SKIP() << "this machine has no such store: " << e.what();
        }
    }
    void mount_state() {
        const std::string image = dir_ + "/state.image";
        const Fd file{::open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        ASSERT_EQ(::ftruncate(file.get(), off_t{1} << 30), 0);
        std::vector<std::string> command = GetParam().mkfs;
        command.push_back(image);
        run_program(std::move(command));
        std::filesystem::create_directories(dir_ + "/state");
        state_.emplace(file.get(), GetParam().fstype, dir_ + "/state", GetParam().options);
        ASSERT_EQ(::chmod((dir_ + "/state").c_str(), 0700), 0);
        if (std::string_view{GetParam().fstype} == "btrfs") {
            const Fd root = open_directory(AT_FDCWD, dir_ + "/state");
            btrfs::enable_quota(root.get());
        }
    }
    void TearDown() override {
        if (store_) {
            for (const std::string& id : store_->boxes()) store_->discard(id);
            Sweeper{*store_}.finish();
        }
        store_.reset();
        state_.reset();
        MachineTest::TearDown();
    }

    // What an ordinary user can write into the box before the kernel refuses, in MiB; at most `tries`.
    static int fill(int box, int tries) {
        const Fd file{::openat(box, "u/fill", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)};
        const pid_t child = ::fork();
        if (child == 0) {
            if (::setresuid(65534, 65534, 65534) != 0) ::_exit(255);
            const std::string block(1 << 20, 'x');
            int done = 0;
            while (done < tries && ::write(file.get(), block.data(), block.size()) == (1 << 20)) ++done;
            ::_exit(done);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }

    std::optional<LoopMount> state_;
    std::unique_ptr<Store> store_;
};

constexpr DiskLimit kSmall{.bytes = 32 << 20, .inodes = 2000};

TEST_P(StoreTest, ANewBoxIsEmptyAndRootsOwn) {
    const Fd box = store_->make_box("i1", kSmall);
    for (const char* name : {"u", "w"}) {
        struct stat facts{};
        ASSERT_EQ(::fstatat(box.get(), name, &facts, 0), 0);
        EXPECT_EQ(facts.st_mode, S_IFDIR | 0755U);
        EXPECT_EQ(facts.st_uid, 0U);
    }
    EXPECT_EQ(store_->boxes(), std::vector<std::string>{"i1"});
}

TEST_P(StoreTest, WhatIsMadeInABoxIsOutOfReachOfHostUsers) {
    const Fd box = store_->make_box("i1", kSmall);
    struct statvfs facts{};
    ASSERT_EQ(::fstatvfs(box.get(), &facts), 0);
    if (store_->facts().where.starts_with("image")) {
        EXPECT_TRUE(facts.f_flag & ST_NOSUID);
        EXPECT_TRUE(facts.f_flag & ST_NODEV);
    }
    struct stat state{};
    ASSERT_EQ(::stat((dir_ + "/state").c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 0777, 0700U);
}

TEST_P(StoreTest, BytesBeyondTheLimitAreRefusedAndRoomComesBack) {
    if (!store_->facts().bytes_hard) GTEST_SKIP() << "not a hard limit: " << store_->facts().disk_limit_by;
    const Fd box = store_->make_box("i1", kSmall);
    const int written = fill(box.get(), 64);
    EXPECT_LE(written, 32);
    EXPECT_GE(written, 20);
    ASSERT_EQ(::unlinkat(box.get(), "u/fill", 0), 0);
    EXPECT_GE(fill(box.get(), 4), 4);
}

TEST_P(StoreTest, OneBoxAtItsLimitDoesNotTouchAnother) {
    const Fd full = store_->make_box("i1", kSmall);
    const Fd other = store_->make_box("i2", kSmall);
    (void)fill(full.get(), 64);
    EXPECT_EQ(fill(other.get(), 8), 8);
}

TEST_P(StoreTest, AnOverlayOnTheBoxIsWritable) {
    const Fd layer = open_path(make_layer("layer", "file", "layer"));
    const Fd box = store_->make_box("i1", kSmall);
    const IdRange range = ids_->take();
    const Fd root = staging_->make_root(std::array{layer.get()}, box.get(), range);
    EXPECT_EQ(create_as(range.base, root.get(), "new"), 0);
    EXPECT_EQ(::faccessat(box.get(), "u/new", F_OK, 0), 0);
}

TEST_P(StoreTest, TheSameIdTwiceIsRefusedAndTheFirstIsKept) {
    const Fd box = store_->make_box("i1", kSmall);
    const Fd file{::openat(box.get(), "u/kept", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
    EXPECT_THROW((void)store_->make_box("i1", kSmall), Error);
    EXPECT_EQ(::faccessat(box.get(), "u/kept", F_OK, 0), 0);
    EXPECT_EQ(store_->boxes(), std::vector<std::string>{"i1"});
}

TEST_P(StoreTest, IdsThatCouldBePathsAreRefused) {
    for (const char* id : {"", ".", "..", "a/b", "A", "a b", "../trash/x"}) {
        EXPECT_THROW((void)store_->make_box(id, kSmall), Error) << id;
        EXPECT_THROW((void)store_->open_box(id, kSmall), Error) << id;
        EXPECT_THROW(store_->discard(id), Error) << id;
    }
}

TEST_P(StoreTest, DiscardTakesTheBoxAwayAtOnceAndTheSweeperRemovesIt) {
    {
        const Fd box = store_->make_box("i1", kSmall);
        (void)fill(box.get(), 4);
    }
    store_->discard("i1");
    EXPECT_TRUE(store_->boxes().empty());
    EXPECT_EQ(store_->trash(), 1U);
    Sweeper sweeper{*store_};
    sweeper.finish();
    EXPECT_EQ(store_->trash(), 0U);
    store_->discard("i1");  // once more is no harm
}

// Threats X-03.
TEST_P(StoreTest, ATreeOfAnyDepthIsRemoved) {
    {
        const Fd box = store_->make_box("i1", kSmall);
        Fd deep{::openat(box.get(), "u", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        for (int i = 0; i < 1200; ++i) {
            ASSERT_EQ(::mkdirat(deep.get(), "d", 0700), 0) << i;
            deep = Fd{::openat(deep.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        }
    }
    store_->discard("i1");
    Sweeper{*store_}.finish();
    EXPECT_EQ(store_->trash(), 0U);
}

TEST_P(StoreTest, ALaterKeeperFindsTheBoxesOfAnEarlier) {
    {
        const Fd box = store_->make_box("i1", kSmall);
        const Fd file{::openat(box.get(), "u/kept", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
    }
    store_.reset();
    store_ = open();
    EXPECT_EQ(store_->boxes(), std::vector<std::string>{"i1"});
    const Fd box = store_->open_box("i1", kSmall);
    EXPECT_EQ(::faccessat(box.get(), "u/kept", F_OK, 0), 0);
    EXPECT_EQ(store_->use("i1").limit.bytes, kSmall.bytes);
}

// kill -9 of the keeper: its mounts go with its namespace, but a living sandbox still writes through its
// overlay.
TEST_P(StoreTest, ALaterKeeperJoinsTheFileSystemThatALivingSandboxHolds) {
    const Fd layer = open_path(make_layer("layer", "file", "layer"));
    const IdRange range = ids_->take();
    Fd root;
    {
        const Fd box = store_->make_box("i1", kSmall);
        root = staging_->make_root(std::array{layer.get()}, box.get(), range);
    }
    store_.reset();
    store_ = open();
    const Fd box = store_->open_box("i1", kSmall);
    ASSERT_EQ(create_as(range.base, root.get(), "written-later"), 0);
    EXPECT_EQ(::faccessat(box.get(), "u/written-later", F_OK, 0), 0);  // one superblock, not two
}

TEST_P(StoreTest, LimitsCanBeRaisedInUseOrSayThatTheyCanNot) {
    if (!store_->facts().bytes_hard) GTEST_SKIP() << "not a hard limit: " << store_->facts().disk_limit_by;
    const Fd box = store_->make_box("i1", kSmall);
    (void)fill(box.get(), 64);
    try {
        store_->set_limit("i1", {.bytes = 64 << 20, .inodes = 2000});
        EXPECT_GE(fill(box.get(), 8), 8);
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unimplemented);
    }
}

TEST_P(StoreTest, CopiesABoxThatNeitherSideChangesForTheOther) {
    const DiskLimit limit{.bytes = 64 << 20, .inodes = 4096};
    const Fd box = store_->make_box("one", limit);
    ASSERT_EQ(create_as(0, open_directory(box.get(), "u").get(), "before"), 0);
    store_->save("one", "kept");
    ASSERT_EQ(create_as(0, open_directory(box.get(), "u").get(), "after"), 0);
    EXPECT_EQ(store_->saved(), std::vector<std::string>{"kept"});

    for (const char* id : {"two", "three"}) {
        store_->begin_box_of("kept", id, limit);
        store_->fill("kept", id);
        const Fd copy = store_->reopen_box(id, limit);
        const Fd upper = open_directory(copy.get(), "u");
        EXPECT_EQ(names_in(upper.get()), std::vector<std::string>{"before"});
        ASSERT_EQ(create_as(0, upper.get(), id), 0);
        EXPECT_TRUE(names_in(open_directory(copy.get(), "w").get()).empty());
    }
    const std::vector<std::string> changed{"after", "before"};
    EXPECT_EQ(names_in(open_directory(box.get(), "u").get()), changed);

    store_->drop("kept");
    EXPECT_TRUE(store_->saved().empty());
    Sweeper{*store_}.finish();
    EXPECT_EQ(store_->trash(), 0u);
}

TEST_P(StoreTest, ABoxIsOpenedAgainWithAllButItsWork) {
    const DiskLimit limit{.bytes = 64 << 20, .inodes = 4096};
    {
        const Fd box = store_->make_box("one", limit);
        ASSERT_EQ(create_as(0, open_directory(box.get(), "u").get(), "kept"), 0);
        ASSERT_EQ(create_as(0, open_directory(box.get(), "w").get(), "work"), 0);
    }
    const Fd again = store_->reopen_box("one", limit);
    EXPECT_EQ(names_in(open_directory(again.get(), "u").get()), std::vector<std::string>{"kept"});
    EXPECT_TRUE(names_in(open_directory(again.get(), "w").get()).empty());
}

TEST_P(StoreTest, HoldsACopyToItsLimit) {
    const DiskLimit limit{.bytes = 16 << 20, .inodes = 4096};
    static_cast<void>(store_->make_box("one", limit));
    store_->save("one", "kept");
    store_->begin_box_of("kept", "two", limit);
    store_->fill("kept", "two");
    const Fd copy = store_->reopen_box("two", limit);
    ASSERT_EQ(::fchmodat(copy.get(), "u", 0777, 0), 0);
    ASSERT_EQ(::fchmodat(copy.get(), ".", 0755, 0), 0);
    if (store_->facts().bytes_hard) {
        EXPECT_LE(fill(copy.get(), 100), 16);
    } else {
        EXPECT_EQ(fill(copy.get(), 20), 20);
    }
    store_->drop("kept");
}

TEST_P(StoreTest, HasNoCopyOfWhatIsNotThere) {
    EXPECT_THROW(store_->save("nobody", "kept"), Error);
    EXPECT_THROW(store_->begin_box_of("nothing", "two", {}), Error);
    EXPECT_TRUE(store_->saved().empty());
    store_->drop("nothing");
}

TEST_P(StoreTest, ItSaysHowItLimitsAndHowMuchRoomThereIs) {
    EXPECT_FALSE(store_->facts().disk_limit_by.empty());
    EXPECT_TRUE(store_->facts().inodes_hard || !store_->facts().inodes_by.empty());
    const StoreRoom room = store_->room();
    EXPECT_GT(room.total, room.free);
    EXPECT_GT(room.host_total, room.host_free);
}

const std::vector<Case> kCases{
    {.kind = "project-quota",
     .fstype = "ext4",
     .mkfs = {"mkfs.ext4", "-q", "-F", "-O", "quota,project", "-E", "quotatype=prjquota"},
     .options = "prjquota"},
    {.kind = "btrfs", .fstype = "btrfs", .mkfs = {"mkfs.btrfs", "-q", "-f"}},
    {.kind = "reflink-image", .fstype = "xfs", .mkfs = {"mkfs.xfs", "-q", "-f", "-s", "size=4096"}},
    {.kind = "btrfs-image"},
    {.kind = "quota-image"},
    {.kind = "loop-image"},
    {.kind = "watched"},
};

INSTANTIATE_TEST_SUITE_P(Kinds, StoreTest, testing::ValuesIn(kCases), [](const auto& info) {
    std::string name = info.param.kind;
    std::erase(name, '-');
    return name;
});

}  // namespace
}  // namespace oyat::layers
