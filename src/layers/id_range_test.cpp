#include "layers/id_range.hpp"

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "base/throwing.hpp"
#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

class IdRangesTest : public MachineTest {
protected:
    [[nodiscard]] IdRanges another_state(const std::string& id) const { return IdRanges{uids_, id}; }
};

TEST_F(IdRangesTest, NoTwoSandboxesShareARange) {
    const IdRange first = ids_->take();
    const IdRange second = ids_->take();
    EXPECT_NE(first.base, second.base);
    EXPECT_EQ(first.base % IdRange::kSize, 0U);
    EXPECT_GE(first.userns, 0);
}

TEST_F(IdRangesTest, NoTwoServersShareARange) {
    IdRanges other = another_state("other");
    EXPECT_NE(ids_->take().base, other.take().base);
}

TEST_F(IdRangesTest, ARangeThatCameBackIsUsedAgainWithItsNamespace) {
    const IdRange first = ids_->take();
    ids_->give_back(first);
    const IdRange again = ids_->take();
    EXPECT_EQ(again.base, first.base);
    EXPECT_EQ(again.userns, first.userns);
}

TEST_F(IdRangesTest, OneStateHasOneKeeper) {
    EXPECT_THROW((void)another_state("test"), Error);
}

TEST_F(IdRangesTest, TheNextKeeperAdoptsWhatLivesAndTakesTheRest) {
    const std::uint32_t living = ids_->take().base;
    const std::uint32_t dead = ids_->take().base;
    ids_.emplace(uids_ + "/elsewhere", "nobody");  // the first keeper is gone, its claims stay
    IdRanges next = another_state("test");
    EXPECT_EQ(next.adopt(living).base, living);
    EXPECT_EQ(next.take().base, dead);
    EXPECT_THROW(next.adopt(living), Error);
    EXPECT_THROW(next.adopt(12345), Error);
}

TEST_F(IdRangesTest, ACleanStopLeavesNoClaim) {
    ids_->give_back(ids_->take());
    ids_->release_unused();
    for (const auto& entry : std::filesystem::directory_iterator{uids_}) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("7")) << entry.path();
    }
}

// What has no owner could never be taken over by anybody.
TEST_F(IdRangesTest, AClaimHasItsOwnerAlsoWhenTheDiskIsFull) {
    const std::string small = dir_ + "/small";
    std::filesystem::create_directory(small);
    ASSERT_EQ(::mount("oyat", small.c_str(), "tmpfs", 0, "size=16k"), 0);
    {
        IdRanges ranges{small, "tight"};
        std::ofstream{small + "/filler"} << std::string(std::size_t{64} << 10, 'x');
        try {
            (void)ranges.take();
        } catch (const Error&) {
        }
        for (const auto& entry : std::filesystem::directory_iterator{small}) {
            const std::string name = entry.path().filename();
            if (name.starts_with('7')) {
                EXPECT_EQ(text_of(AT_FDCWD, entry.path().c_str()), "tight") << name;
            }
        }
    }
    ::umount2(small.c_str(), MNT_DETACH);
}

class FullMachineTest : public IdRangesTest {
protected:
    // Claims for all ranges, as a state leaves them that was deleted while its server was dead.
    void claim_all_for(const std::string& owner) const {
        for (std::uint32_t base = IdRange::kFirst; base <= IdRange::kLast; base += IdRange::kSize) {
            std::array<char, 16> name{};
            std::snprintf(name.data(), name.size(), "%08x", base);
            std::ofstream{uids_ + "/" + name.data()} << owner;
        }
    }
};

TEST_F(FullMachineTest, StaleClaimsAreTakenOverButNotThoseOfLivingProcesses) {
    claim_all_for("ghost");
    constexpr uid_t kSurvivor = IdRange::kFirst + 5;
    const pid_t survivor = ::fork();
    if (survivor == 0) {
        if (::setresuid(kSurvivor, kSurvivor, kSurvivor) != 0) ::_exit(1);
        for (;;) ::pause();
    }
    const std::string status = "/proc/" + std::to_string(survivor) + "/status";
    while (text_of(AT_FDCWD, status.c_str()).find("Uid:\t" + std::to_string(kSurvivor)) ==
           std::string::npos) {
    }
    EXPECT_GT(ids_->take().base, IdRange::kFirst);
    ::kill(survivor, SIGKILL);
    ::waitpid(survivor, nullptr, 0);
}

TEST_F(FullMachineTest, ClaimsOfALivingKeeperAreNotTakenOver) {
    const IdRanges other = another_state("other");
    claim_all_for("other");
    EXPECT_THROW((void)ids_->take(), Error);
}

}  // namespace
}  // namespace oyat::layers
