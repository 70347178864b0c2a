#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::keeper {

// What the operator's layer for one image consists of: text by path, relative to the root.
using OperatorFiles = std::map<std::string, std::string>;

// Reads a file of the host or of the image; "" when there is none. A parameter, so that tests bring their
// own.
class TextSource {
public:
    virtual ~TextSource() = default;
    [[nodiscard]] virtual std::string read(const std::string& path) const = 0;
    // Paths of the files in a directory that end with `suffix`, sorted.
    [[nodiscard]] virtual std::vector<std::string> list(const std::string& dir,
                                                        std::string_view suffix) const = 0;
};

// Composes the layer out of the host's settings and what the image has itself. Credentials stay on the host.
[[nodiscard]] OperatorFiles compose_operator_files(const TextSource& host, const TextSource& image);

// Lines that go into every sandbox's /etc/hosts.
[[nodiscard]] std::string operator_hosts(const TextSource& host);

}  // namespace oyat::keeper
