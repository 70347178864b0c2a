#include "keeper/options.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(KeeperOptions, TakesValuesWithAndWithoutEqualsSign) {
    const Result<Options> options = parse_options(
        {"--state", "/s", "--run=/r", "--templates=/t", "--agent", "/a", "--pool=7", "--socket-group", "0"});
    ASSERT_TRUE(options) << options.error().message();
    EXPECT_EQ(options->state, "/s");
    EXPECT_EQ(options->run, "/r");
    EXPECT_EQ(options->pool, 7U);
}

TEST(KeeperOptions, SaysWhichOneIsMissingOrWrong) {
    const auto message = [](const std::vector<std::string_view>& arguments) {
        const Result<Options> options = parse_options(arguments);
        return options ? "" : options.error().message();
    };
    EXPECT_EQ(message({}), "--templates is missing");
    EXPECT_EQ(message({"--templates", "/t"}), "--state is missing");
    EXPECT_EQ(message({"--pool", "many"}), "'many' is not a number that fits");
    EXPECT_EQ(message({"--socket-group", "no-such-group"}), "no group is called 'no-such-group'");
    EXPECT_EQ(message({"--colour", "red"}), "unknown option --colour");
    EXPECT_EQ(message({"--state"}), "--state wants a value, or is unknown");
}

TEST(KeeperOptions, NeedsOnlyTheTemplatesForAnImport) {
    const Result<Options> options = parse_options({"import-template", "--templates", "/t", "--name", "base"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->command, Options::Command::import_template);
    EXPECT_EQ(options->template_name, "base");
}

}  // namespace
}  // namespace oyat::keeper
