#include "cli/settings.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public ::testing::Test {
protected:
    SettingsTest() { fs::create_directories(home_ / ".config/oyat"); }
    ~SettingsTest() override { fs::remove_all(home_); }

    Result<Settings> find(std::map<std::string, std::string> environment) {
        environment.emplace("HOME", home_.string());
        const auto look_up = [&](const char* name) {
            const auto found = environment.find(name);
            return found == environment.end() ? std::nullopt : std::optional{found->second};
        };
        return find_settings(look_up, (home_ / "api-key").string());
    }
    void write(const char* name, const std::string& text) { std::ofstream{home_ / name} << text; }

    fs::path home_ = fs::temp_directory_path() / ("oyat-settings-" + random_hex(8));
};

TEST_F(SettingsTest, AreThoseOfThisMachineByDefault) {
    write("api-key", "e2b_local\n");
    const Settings settings = or_throw(find({}));
    EXPECT_EQ(settings.url, "http://127.0.0.1:3000");
    EXPECT_EQ(settings.key, "e2b_local");
}

TEST_F(SettingsTest, TheFileWinsOverTheMachineAndTheEnvironmentOverTheFile) {
    write("api-key", "e2b_local\n");
    write(".config/oyat/config.toml", "url = \"https://a.test\"\napi_key = \"e2b_file\"\n");
    EXPECT_EQ(or_throw(find({})).key, "e2b_file");
    const Settings settings = or_throw(find({{"OYAT_API_KEY", "e2b_env"}}));
    EXPECT_EQ(settings.key, "e2b_env");
    EXPECT_EQ(settings.url, "https://a.test");
}

TEST_F(SettingsTest, AMistakeInTheFileIsSaidNotIgnored) {
    for (const char* text : {"ulr = \"x\"", "url = 3", "url = "}) {
        write(".config/oyat/config.toml", text);
        EXPECT_FALSE(find({})) << text;
    }
}

}  // namespace
}  // namespace oyat::cli
