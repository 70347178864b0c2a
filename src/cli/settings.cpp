#include "cli/settings.hpp"
#include "base/toml.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace oyat::cli {
namespace {

std::optional<std::filesystem::path> config_file(const Environment& environment) {
    if (const auto base = environment("XDG_CONFIG_HOME"); base && base->starts_with('/')) {
        return std::filesystem::path{*base} / "oyat/config.toml";
    }
    if (const auto home = environment("HOME"); home && !home->empty()) {
        return std::filesystem::path{*home} / ".config/oyat/config.toml";
    }
    return std::nullopt;
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream file{path};
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Result<void> apply_config(const std::filesystem::path& path, const std::string& text, Settings& settings) {
    try {
        const toml::table table = toml::parse(text, path.string());
        for (const auto& [name, value] : table) {
            const std::optional<std::string> given = value.value<std::string>();
            if (name == "url" && given) {
                settings.url = *given;
            } else if (name == "api_key" && given) {
                settings.key = *given;
            } else {
                return refuse(Errc::invalid_argument, path.string() + " has '" + std::string{name.str()} +
                                                          "', but may only have the strings url and api_key");
            }
        }
    } catch (const toml::parse_error& error) {
        return refuse(Errc::invalid_argument, path.string() + ", line " +
                                                  std::to_string(error.source().begin.line) + ": " +
                                                  std::string{error.description()});
    }
    return {};
}

std::string first_line(std::string text) {
    return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

std::optional<std::string> from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

Result<Settings> find_settings(const Environment& environment, const std::string& key_file) {
    Settings settings;
    if (const auto path = config_file(environment)) {
        if (const auto text = read_file(*path)) {
            if (Result<void> applied = apply_config(*path, *text, settings); !applied) {
                return std::unexpected{std::move(applied).error()};
            }
        }
    }
    if (const auto url = environment("OYAT_URL")) settings.url = *url;
    if (const auto key = environment("OYAT_API_KEY")) settings.key = *key;
    if (settings.key.empty()) settings.key = first_line(read_file(key_file).value_or(""));
    return settings;
}

}  // namespace oyat::cli
