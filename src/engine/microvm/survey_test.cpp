#include "engine/microvm/survey.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/microvm/test_machine.hpp"

namespace oyat::microvm {
namespace {

using test::World;

TEST(Survey, IsKeptAsLongAsNothingChanges) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    World world;
    Places places = world.places();
    if (const std::string missing = what_is_missing(places); !missing.empty()) GTEST_SKIP() << missing;
    make_places(places);
    Survey survey = look_around(places);
    choose_accelerator(places, Accelerator::tcg, survey);
    EXPECT_EQ(survey.accelerator, "tcg");
    keep_survey(places, Accelerator::tcg, survey);
    EXPECT_EQ(kept_survey(places, Accelerator::tcg)->guest, survey.guest);
    EXPECT_FALSE(kept_survey(places, Accelerator::automatic)) << "another wish";
    std::filesystem::copy_file(places.agent, world.dir + "/agent");
    places.agent = world.dir + "/agent";
    EXPECT_FALSE(kept_survey(places, Accelerator::tcg)) << "another agent";
}

// Where there is a /dev/kvm it is tried, whatever comes of it; five seconds where it hangs.
TEST(Survey, KvmIsUsedWhereAMachineStartsWithItAndElseItSaysWhyNot) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    World world;
    const Places places = world.places();
    if (const std::string missing = what_is_missing(places); !missing.empty()) GTEST_SKIP() << missing;
    make_places(places);
    Survey survey = look_around(places);
    choose_accelerator(places, Accelerator::automatic, survey);
    EXPECT_EQ(survey.accelerator == "kvm", survey.why_not_kvm.empty()) << survey.why_not_kvm;
    RecordProperty("accelerator", survey.accelerator);
    RecordProperty("why_not_kvm", survey.why_not_kvm);
}

}  // namespace
}  // namespace oyat::microvm
