#include "daemon/mirrors.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include "base/error.hpp"
#include "daemon/text_file.hpp"

namespace oyat::daemon {
namespace {

constexpr std::array<std::string_view, 12> kVariables{"PIP_INDEX_URL",
                                                      "PIP_EXTRA_INDEX_URL",
                                                      "PIP_FIND_LINKS",
                                                      "UV_INDEX_URL",
                                                      "UV_DEFAULT_INDEX",
                                                      "UV_INDEX",
                                                      "NPM_CONFIG_REGISTRY",
                                                      "npm_config_registry",
                                                      "YARN_NPM_REGISTRY_SERVER",
                                                      "GOPROXY",
                                                      "GEM_HOST",
                                                      "BUNDLE_MIRROR__ALL"};

bool names_registries(std::string_view variable) {
    return std::ranges::find(kVariables, variable) != kVariables.end() ||
           (variable.starts_with("CARGO_REGISTRIES_") && variable.ends_with("_INDEX"));
}

void add_urls(std::string_view line, std::vector<policy::Mirror>& mirrors) {
    constexpr std::string_view kEndsUrl = " \t\r\n\"'|,[]";
    while (true) {
        const std::size_t begin = std::min(line.find("http://"), line.find("https://"));
        if (begin == std::string_view::npos) return;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(kEndsUrl), line.size());
        if (auto mirror = policy::Mirror::of_url(line.substr(0, end))) mirrors.push_back(*std::move(mirror));
        line.remove_prefix(end);
    }
}

void add_file(const std::filesystem::path& file, std::vector<policy::Mirror>& mirrors) {
    std::error_code absent;
    if (!std::filesystem::is_regular_file(file, absent)) return;
    try {
        std::ranges::copy(mirrors_in(std::string_view{read_text_file(file.native())}),
                          std::back_inserter(mirrors));
    } catch (const Error&) {
        // Not ours to read, so no mirror of ours either.
    }
}

}  // namespace

std::vector<policy::Mirror> mirrors_in(const std::map<std::string, std::string>& environment) {
    std::vector<policy::Mirror> mirrors;
    for (const auto& [name, value] : environment) {
        if (names_registries(name)) add_urls(value, mirrors);
    }
    return mirrors;
}

std::vector<policy::Mirror> mirrors_in(std::string_view text) {
    std::vector<policy::Mirror> mirrors;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1);
        const std::string_view line = text.substr(0, end + 1);
        const std::size_t first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && line[first] != '#' && line[first] != ';')
            add_urls(line, mirrors);
        text.remove_prefix(end + 1);
    }
    return mirrors;
}

std::vector<policy::Mirror> mirrors_of_machine(const std::filesystem::path& etc) {
    std::vector<policy::Mirror> mirrors;
    for (const char* file : {"apt/sources.list", "pip.conf", "npmrc"}) add_file(etc / file, mirrors);
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator{etc / "apt/sources.list.d", absent})
        add_file(entry.path(), mirrors);
    return mirrors;
}

}  // namespace oyat::daemon
