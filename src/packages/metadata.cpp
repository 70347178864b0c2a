#include "packages/metadata.hpp"

#include <array>
#include <utility>

#include "packages/package.hpp"

namespace oyat::packages {
namespace {

// Takes the next line off `text`.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

// The value of "NAME: value", names compared without regard to case.
std::optional<std::string_view> field(std::string_view line, std::string_view name) {
    if (line.size() <= name.size() || line[name.size()] != ':') return std::nullopt;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if ((line[at] | 0x20) != (name[at] | 0x20)) return std::nullopt;
    }
    std::string_view value = line.substr(name.size() + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    return value;
}

std::optional<NameAndVersion> checked(std::string_view name, std::string_view version) {
    if (!is_plain_name(name) || !is_plain_version(version)) return std::nullopt;
    return NameAndVersion{.name = std::string{name}, .version = std::string{version}};
}

// Reads the texts among the members of the outermost object, whatever else there is.
class Manifest {
public:
    explicit Manifest(std::string_view text) : text_{text} {}

    std::optional<NameAndVersion> read() {
        if (next() != '{') return std::nullopt;
        while (next() == '"') {
            const std::optional<std::string> key = string();
            if (!key || next() != ':') return std::nullopt;
            if (!value(*key)) return std::nullopt;
            if (name_ && version_) return checked(*name_, *version_);
            if (next() != ',') return std::nullopt;
        }
        return std::nullopt;
    }

private:
    // The next byte that is no blank; 0 at the end.
    char next() {
        const std::size_t found = text_.find_first_not_of(" \t\r\n", at_);
        at_ = found == std::string_view::npos ? text_.size() : found + 1;
        return found == std::string_view::npos ? '\0' : text_[found];
    }
    // The rest of a string whose first quote was taken. Nothing when it has no end.
    std::optional<std::string> string() {
        std::string made;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '"') return made;
            if (c != '\\') {
                made += c;
            } else if (at_ < text_.size()) {
                const char escaped = text_[at_++];
                // A name with anything else is none that is_plain_name() takes.
                made += escaped == '/' ? '/' : '\\';
            }
        }
        return std::nullopt;
    }
    bool value(const std::string& key) {
        const char first = next();
        if (first != '"') return skip(first);
        std::optional<std::string> text = string();
        if (!text) return false;
        if (key == "name" && !name_) name_ = std::move(text);
        if (key == "version" && !version_) version_ = std::move(text);
        return true;
    }
    // A value that is no string: to the comma or brace behind it, which stays.
    bool skip(char first) {
        std::size_t depth = 0;
        for (char c = first; c != '\0'; c = next()) {
            if (c == '"' && !string()) return false;
            if (c == '{' || c == '[') ++depth;
            if ((c == '}' || c == ']' || c == ',') && depth == 0) {
                --at_;
                return true;
            }
            if (c == '}' || c == ']') --depth;
        }
        return false;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::optional<std::string> name_, version_;
};

}  // namespace

std::optional<NameAndVersion> read_python_metadata(std::string_view text) {
    text = text.substr(0, kMaxMetadata);
    std::string_view name, version;
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        if (line.empty()) break;  // the description begins
        if (const auto value = field(line, "name"); value && name.empty()) name = *value;
        if (const auto value = field(line, "version"); value && version.empty()) version = *value;
    }
    return checked(name, version);
}

std::optional<NameAndVersion> read_npm_manifest(std::string_view text) {
    return Manifest{text.substr(0, kMaxManifest)}.read();
}

void read_dpkg_status(std::string_view text, const std::function<void(NameAndVersion)>& take) {
    std::string_view name, version, status;
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        if (const auto value = field(line, "package")) name = *value;
        if (const auto value = field(line, "version")) version = *value;
        if (const auto value = field(line, "status")) status = *value;
        if (!line.empty() && !text.empty()) continue;
        if (status.ends_with(" installed")) {
            if (auto known = checked(name, version)) take(*std::move(known));
        }
        name = version = status = {};
    }
}

}  // namespace oyat::packages
