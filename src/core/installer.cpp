#include "core/installer.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/shell_words.hpp"

namespace oyat::core {
namespace {

constexpr int kMaxNesting = 4;                // sh -c "sh -c ..."
constexpr std::size_t kMaxWordsOfOthers = 8;  // sudo -u root env A=b timeout 60 PROGRAM

using Words = std::span<const std::string>;

// A program, and the first words after it that make it install something. "" stands for no word at all.
struct Installer {
    std::string_view program;
    std::string_view shown;
    std::string_view verbs;
};
constexpr Installer kInstallers[] = {
    {"pip", "pip", " install download wheel "},
    {"uv", "uv", " sync add lock pip tool "},
    {"poetry", "poetry", " install add update "},
    {"pipenv", "pipenv", " install update sync "},
    {"conda", "conda", " install create update "},
    {"mamba", "conda", " install create update "},
    {"npm", "npm", " install i ci add update install-test it "},
    {"pnpm", "pnpm", " install i add update up "},
    {"yarn", "yarn", "  install add up upgrade "},
    {"bun", "bun", " install i add update "},
    {"apt", "apt", " install upgrade full-upgrade build-dep reinstall "},
    {"apt-get", "apt", " install upgrade dist-upgrade build-dep reinstall "},
    {"aptitude", "apt", " install upgrade safe-upgrade full-upgrade "},
    {"dpkg", "apt", " -i --install --unpack --configure "},
    {"apk", "apk", " add upgrade "},
    {"dnf", "dnf", " install update upgrade "},
    {"yum", "dnf", " install update upgrade "},
    {"microdnf", "dnf", " install update upgrade "},
    {"cargo", "cargo", " build b check c fetch install update add vendor "},
    {"go", "go", " get install mod "},
    {"gem", "gem", " install update "},
    {"bundle", "gem", "  install update "},
    {"composer", "composer", " install require update "},
};
constexpr std::array<std::string_view, 16> kOthers{"sudo", "doas",   "env",     "nohup",   "nice", "ionice",
                                                   "time", "exec",   "command", "timeout", "then", "do",
                                                   "else", "stdbuf", "setsid",  "xargs"};
constexpr std::array<std::string_view, 6> kShells{"sh", "bash", "dash", "ash", "zsh", "ksh"};

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "python3.11" and "pip3" are known by their first letters.
std::string_view without_version(std::string_view name) {
    const std::size_t end = name.find_last_not_of("0123456789.");
    return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    return equals != 0 && equals != std::string_view::npos && word.find('/') > equals;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

std::string joined(Words words) {
    std::string all;
    for (const std::string& word : words) all.append(word).append(" ");
    return all;
}

// The verb is the first word that is no option, or the second where the first may be an option's value.
bool has_verb(const Installer& installer, Words arguments) {
    const auto fits = [&](std::string_view word) {
        return installer.verbs.contains(" " + std::string{word} + " ");
    };
    if (arguments.empty()) return installer.verbs.starts_with("  ");
    bool after_option = false;
    for (const std::string& word : arguments.first(std::min(arguments.size(), kMaxWordsOfOthers))) {
        if (fits(word)) return true;
        if (word.starts_with('-')) {
            after_option = true;
        } else if (!std::exchange(after_option, false)) {
            return false;
        }
    }
    return false;
}

std::string_view find(Words words, int depth);

std::string_view find_in_script(std::string_view script, int depth) {
    if (depth >= kMaxNesting) return {};
    for (const std::vector<std::string>& command : simple_commands(script)) {
        if (const std::string_view found = find(command, depth + 1); !found.empty()) return found;
    }
    return {};
}

// bash -l -c SCRIPT, sh -ec SCRIPT
std::string_view find_in_shell(Words arguments, int depth) {
    bool script_follows = false;
    for (const std::string& word : arguments) {
        if (word.starts_with('-') || word.starts_with('+')) {
            if (!word.starts_with("--") && word.contains('c')) script_follows = true;
        } else {
            return script_follows ? find_in_script(word, depth) : std::string_view{};
        }
    }
    return {};
}

std::string_view find_here(Words words, int depth) {
    const std::string_view name = base_name(words.front());
    const Words arguments = words.subspan(1);
    if (is_one_of(name, kShells)) return find_in_shell(arguments, depth);
    if (name == "eval") return find_in_script(joined(arguments), depth);
    if (without_version(name) == "python" && arguments.size() >= 2 && arguments[0] == "-m") {
        return find(arguments.subspan(1), depth);
    }
    for (const Installer& each : kInstallers) {
        if ((each.program == name || each.program == without_version(name)) && has_verb(each, arguments)) {
            return each.shown;
        }
    }
    return {};
}

std::string_view find(Words words, int depth) {
    while (!words.empty() && is_assignment(words.front())) words = words.subspan(1);
    if (words.empty()) return {};
    if (!is_one_of(base_name(words.front()), kOthers)) return find_here(words, depth);
    // Which options of these take a value is theirs to know: the first word that means something counts.
    for (std::size_t at = 1; at < std::min(words.size(), kMaxWordsOfOthers); ++at) {
        if (const std::string_view found = find_here(words.subspan(at), depth); !found.empty()) return found;
    }
    return {};
}

}  // namespace

std::string_view installer_of(const std::vector<std::string>& argv) {
    return find(argv, 0);
}

}  // namespace oyat::core
