#include "packages/file_names.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace oyat::packages {
namespace {

constexpr std::size_t kMaxPath = 4096;

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "a/b/c" as what stands before and after the last "/".
std::string_view before_last(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::optional<Package> made(Ecosystem ecosystem, std::string name, std::string_view version) {
    if (!is_plain_name(name) || !is_plain_version(version)) return std::nullopt;
    return Package{
        .ecosystem = ecosystem, .name = std::move(name), .version = std::string{version}, .path = {}};
}

// "NAME-VERSION": a version begins with a digit, a name may hold dashes.
std::optional<Package> by_dash(Ecosystem ecosystem, std::string_view text) {
    for (std::size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
        if (dash + 1 < text.size() && is_digit(text[dash + 1]))
            return made(ecosystem, std::string{text.substr(0, dash)}, text.substr(dash + 1));
    }
    return std::nullopt;
}

// In a module's path "!x" stands for "X" (golang.org/ref/mod, "Module proxies").
std::optional<std::string> go_name(std::string_view escaped) {
    std::string name;
    for (std::size_t at = 0; at < escaped.size(); ++at) {
        char c = escaped[at];
        if (c == '!') {
            if (++at == escaped.size() || escaped[at] < 'a' || escaped[at] > 'z') return std::nullopt;
            c = static_cast<char>(escaped[at] - 'a' + 'A');
        }
        name += c;
    }
    return name;
}

// "MODULE/@v/VERSION.zip"
std::optional<Package> go_module(std::string_view path) {
    const std::size_t mark = path.rfind("/@v/");
    if (mark == std::string_view::npos || !path.ends_with(".zip")) return std::nullopt;
    std::string_view version = path.substr(mark + 4);
    version.remove_suffix(4);
    std::optional<std::string> name = go_name(path.substr(0, mark));
    if (!name || version.contains('/')) return std::nullopt;
    return made(Ecosystem::go, *std::move(name), version);
}

// "NAME-VERSION-PYTHON-ABI-PLATFORM.whl", "NAME-VERSION.tar.gz": names there hold no dash, or are the part
// before the first dash with a digit behind it.
std::optional<Package> python_file(std::string_view file) {
    if (file.ends_with(".whl")) {
        const std::size_t dash = file.find('-');
        if (dash == std::string_view::npos) return std::nullopt;
        const std::string_view rest = file.substr(dash + 1);
        if (!rest.contains('-')) return std::nullopt;
        return made(Ecosystem::python, std::string{file.substr(0, dash)}, rest.substr(0, rest.find('-')));
    }
    for (const std::string_view end : {".tar.gz", ".zip", ".tar.bz2"}) {
        if (file.ends_with(end)) return by_dash(Ecosystem::python, file.substr(0, file.size() - end.size()));
    }
    return std::nullopt;
}

// "NAME/-/FILE-VERSION.tgz", where NAME may be "@scope/name" and FILE is its last part.
std::optional<Package> npm_file(std::string_view path) {
    const std::size_t mark = path.rfind("/-/");
    if (mark == std::string_view::npos || !path.ends_with(".tgz")) return std::nullopt;
    const std::string_view before = path.substr(0, mark);
    const std::string_view name = last_part(before);
    std::string_view file = path.substr(mark + 3);
    file.remove_suffix(4);
    if (!file.starts_with(name) || file.size() <= name.size() + 1 || file[name.size()] != '-')
        return std::nullopt;
    const std::string_view scope = last_part(before_last(before));
    std::string whole = scope.starts_with('@') ? std::string{scope} + "/" : std::string{};
    return made(Ecosystem::npm, whole.append(name), file.substr(name.size() + 1));
}

// The marks that are escaped in the names of Debian's files.
void unescape(std::string& version) {
    struct Escape {
        std::string_view lower, upper;
        char mark;
    };
    for (const Escape& each :
         {Escape{"%3a", "%3A", ':'}, Escape{"%2b", "%2B", '+'}, Escape{"%7e", "%7E", '~'}}) {
        for (const std::string_view form : {each.lower, each.upper}) {
            for (auto at = version.find(form); at != std::string::npos; at = version.find(form, at))
                version.replace(at, form.size(), 1, each.mark);
        }
    }
}

// "NAME_VERSION_ARCHITECTURE.deb"
std::optional<Package> debian_file(std::string_view file) {
    const std::size_t first = file.find('_');
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = file.find('_', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    std::string version{file.substr(first + 1, second - first - 1)};
    unescape(version);
    return made(Ecosystem::debian, std::string{file.substr(0, first)}, version);
}

// "…/crates/NAME/VERSION/download", "…/NAME-VERSION.crate"
std::optional<Package> crate(std::string_view path) {
    if (path.ends_with(".crate")) {
        const std::string_view file = last_part(path);
        return by_dash(Ecosystem::cargo, file.substr(0, file.size() - 6));
    }
    if (!path.ends_with("/download")) return std::nullopt;
    const std::string_view with_version = before_last(path);
    const std::string_view with_name = before_last(with_version);
    if (last_part(before_last(with_name)) != "crates") return std::nullopt;
    return made(Ecosystem::cargo, std::string{last_part(with_name)}, last_part(with_version));
}

// What stands behind the last `mark`, if it is there.
std::optional<std::string_view> behind(std::string_view path, std::string_view mark) {
    const std::size_t at = path.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    return path.substr(at + mark.size());
}

std::optional<Package> placed(std::optional<Package> package, std::string_view path) {
    if (package && is_plain_path(path)) package->path = path;
    return package;
}

}  // namespace

std::optional<Package> stored_artefact(std::string_view path) {
    if (path.size() > kMaxPath) return std::nullopt;
    if (const auto rest = behind(path, "/registry/cache/"); rest && path.ends_with(".crate")) {
        return std::ranges::count(*rest, '/') == 1 ? placed(crate(path), path) : std::nullopt;
    }
    if (const auto rest = behind(path, "/cache/download/")) return placed(go_module(*rest), path);
    return std::nullopt;
}

std::optional<Package> requested_artefact(std::string_view path) {
    if (path.size() > kMaxPath) return std::nullopt;
    path = path.substr(0, path.find('?'));
    if (path.starts_with('/')) path.remove_prefix(1);
    if (path.ends_with(".deb")) return debian_file(last_part(path));
    if (path.contains("/@v/")) return go_module(path);
    if (path.contains("/-/")) return npm_file(path);
    if (auto found = crate(path)) return found;
    return path.contains("packages/") || path.ends_with(".whl") ? python_file(last_part(path)) : std::nullopt;
}

}  // namespace oyat::packages
