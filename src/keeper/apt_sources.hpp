#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oyat::keeper {

// The host's apt sources, reduced to those that carry Debian's own suites of one release, one line each and
// without signing options: third parties' repositories and addresses with user names stay on the host.
class AptSources {
public:
    explicit AptSources(std::string release) : release_{std::move(release)} {}

    void add_one_line_file(std::string_view text);  // sources.list, *.list
    void add_deb822_file(std::string_view text);    // *.sources

    // "deb URI SUITE COMPONENTS" lines, each once; empty when the host has none.
    [[nodiscard]] std::string lines() const;

private:
    void add(std::string_view uri, std::string_view suite, const std::vector<std::string_view>& components);

    std::string release_;
    std::vector<std::string> lines_;
};

// VERSION_CODENAME of an os-release file, or "".
[[nodiscard]] std::string release_in(std::string_view os_release);

}  // namespace oyat::keeper
