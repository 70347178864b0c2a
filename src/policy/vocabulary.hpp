#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/document.hpp"

namespace oyat::policy {

// Where the operator's own copy of a registry answers.
struct Mirror {
    std::optional<HostPattern> host;
    std::optional<IpAddress> address;  // in place of the host
    std::uint16_t port = 443;

    // "https://pypi.example.com/simple", "http://[fd00::1]:8080/". Nothing for what is no URL of a web
    // server.
    [[nodiscard]] static std::optional<Mirror> of_url(std::string_view url);
};

// What the operator adds to the words that ship.
struct OperatorWords {
    std::vector<Mirror> mirrors;         // of package registries; count under packages-only
    std::vector<HostPattern> git_hosts;  // count under git-read-only
};

// The words that documents may use: sets of hosts ("@registries", "@git-hosts"), of paths ("@git-read",
// "@git-write"), presets, and ready policies to copy. Never changes once made; a new one replaces it.
class Vocabulary {
public:
    Vocabulary() : Vocabulary(OperatorWords{}) {}
    explicit Vocabulary(const OperatorWords& added);

    // By the name with its "@"; null for a set that does not exist.
    [[nodiscard]] const std::vector<HostPattern>* hosts(std::string_view set) const;
    // What a path of the set ends with: "/git-upload-pack". Null for a set that does not exist.
    [[nodiscard]] const std::vector<std::string>* paths(std::string_view set) const;
    // Null for a preset that does not exist. Its document has no preset itself.
    [[nodiscard]] DocumentPtr preset(std::string_view name) const;

private:
    std::map<std::string, std::vector<HostPattern>, std::less<>> hosts_;
    std::map<std::string, std::vector<std::string>, std::less<>> paths_;
    std::map<std::string, DocumentPtr, std::less<>> presets_;
};

struct ReadyPolicy {
    std::string_view name, purpose, toml;
};

// Documents to start from: `oyat policy ready`.
[[nodiscard]] std::span<const ReadyPolicy> ready_policies();

}  // namespace oyat::policy
