#include "core/installer.hpp"

#include <gtest/gtest.h>

#include "core/shell_words.hpp"

namespace oyat::core {
namespace {

using Commands = std::vector<std::vector<std::string>>;

std::string_view in_shell(std::string script) {
    return installer_of({"/bin/bash", "-l", "-c", std::move(script)});
}

TEST(ShellWords, EachSimpleCommandOfAScriptIsFound) {
    EXPECT_EQ(simple_commands("cd a&&npm ci;ls|wc"), (Commands{{"cd", "a"}, {"npm", "ci"}, {"ls"}, {"wc"}}));
    EXPECT_EQ(simple_commands("(a; b)\n{ c; }"), (Commands{{"a"}, {"b"}, {"c"}}));
}

TEST(ShellWords, QuotesAreTakenOffAndKeepWordsTogether) {
    EXPECT_EQ(simple_commands(R"(n'p'"m" "a b" 'c;d' e\ f)"), (Commands{{"npm", "a b", "c;d", "e f"}}));
}

TEST(ShellWords, SubstitutionsAreCommandsToo) {
    EXPECT_EQ(simple_commands(R"(echo "got $(npm ci) x" y)").at(1), (std::vector<std::string>{"npm", "ci"}));
    EXPECT_EQ(simple_commands("a=`npm ci`").at(1), (std::vector<std::string>{"npm", "ci"}));
}

TEST(ShellWords, CommentsAndRedirectionsAreNoWords) {
    EXPECT_EQ(simple_commands("a 2>&1 >b c # npm ci\nd"), (Commands{{"a", "c"}, {"d"}}));
}

TEST(ShellWords, EndsOfNothingAreNoTrouble) {
    for (const char* text : {"", "'", "\"", "\\", "$(", "`", "a >", ")", "\"$(\"", "# x", ";;&&"}) {
        EXPECT_LE(simple_commands(text).size(), 2u) << text;
    }
}

TEST(Installer, PackageManagersAreKnownByTheirVerb) {
    EXPECT_EQ(installer_of({"pip", "install", "requests"}), "pip");
    EXPECT_EQ(installer_of({"/tmp/venv/bin/pip3.11", "--proxy", "x", "install", "requests"}), "pip");
    EXPECT_EQ(installer_of({"python3", "-m", "pip", "install", "-r", "r.txt"}), "pip");
    EXPECT_EQ(installer_of({"npm", "--prefix", "app", "ci"}), "npm");
    EXPECT_EQ(installer_of({"yarn"}), "yarn");
    EXPECT_EQ(installer_of({"go", "mod", "download"}), "go");
    EXPECT_EQ(installer_of({"dpkg", "-i", "a.deb"}), "apt");
}

TEST(Installer, OtherWorkIsNone) {
    EXPECT_EQ(installer_of({}), "");
    EXPECT_EQ(installer_of({"npm", "test"}), "");
    EXPECT_EQ(installer_of({"npm", "run", "install"}), "");
    EXPECT_EQ(installer_of({"pip", "list"}), "");
    EXPECT_EQ(installer_of({"echo", "pip", "install"}), "");
    EXPECT_EQ(installer_of({"go", "test", "./..."}), "");
    EXPECT_EQ(installer_of({"cargo", "run"}), "");
    EXPECT_EQ(in_shell("grep 'npm install' README.md"), "");
}

TEST(Installer, IsFoundBehindOtherProgramsAndInShells) {
    EXPECT_EQ(in_shell("cd /app && npm ci 2>&1 | tail"), "npm");
    EXPECT_EQ(in_shell("sudo -u root DEBIAN_FRONTEND=noninteractive apt-get install -y curl"), "apt");
    EXPECT_EQ(in_shell("if true; then timeout 60 pip install x; fi"), "pip");
    EXPECT_EQ(in_shell("A=b env -i C=d nice -n 5 cargo build"), "cargo");
    EXPECT_EQ(in_shell("bash -c \"sh -ec 'npm install'\""), "npm");
    EXPECT_EQ(in_shell("eval \"npm install\" x"), "npm");
}

TEST(Installer, NestingWithoutEndIsGivenUp) {
    std::string script = "npm ci";
    for (int i = 0; i < 3; ++i) script = "eval " + script;
    EXPECT_EQ(in_shell(script), "npm");
    for (int i = 0; i < 3; ++i) script = "eval " + script;
    EXPECT_EQ(in_shell(script), "");
}

}  // namespace
}  // namespace oyat::core
