#include "cli/completion.hpp"

#include <gtest/gtest.h>

namespace oyat::cli {
namespace {

const CommandEntry kProgram{
    .name = "oyat",
    .description = "",
    .options = {"--json"},
    .commands = {{.name = "ls", .description = "list 'em", .options = {"--quiet"}, .commands = {}},
                 {.name = "key",
                  .description = "keys",
                  .options = {},
                  .commands = {{"ls", "list", {"--tenant"}, {}}}}}};

TEST(Completion, BashKnowsEachCommandsOptions) {
    const std::string script = bash_completion(kProgram);
    EXPECT_NE(script.find("'') words='ls key --json' ;;"), std::string::npos) << script;
    EXPECT_NE(script.find("'key ls') words='--tenant' ;;"), std::string::npos) << script;
    EXPECT_NE(script.find("'ls' | 'key' | 'key ls') path="), std::string::npos) << script;
}

TEST(Completion, ZshQuotesDescriptions) {
    const std::string script = zsh_completion(kProgram);
    EXPECT_NE(script.find("'ls:list '\\''em'"), std::string::npos) << script;
    EXPECT_NE(script.find("_oyat_key_ls()"), std::string::npos) << script;
}

}  // namespace
}  // namespace oyat::cli
