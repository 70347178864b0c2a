#include "packages/finder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "packages/file_names.hpp"
#include "packages/metadata.hpp"

namespace oyat::packages {
namespace {

constexpr const char* kDpkgStatus = "var/lib/dpkg/status";
constexpr std::size_t kMaxDpkgStatus = 32u << 20;
constexpr std::string_view kDebiansPython = "usr/lib/python3/dist-packages";  // dpkg lists what is in there

// Below `dir`, whatever the path says: no link, no other file system.
Fd open_beneath(int dir, const std::string& path, std::uint64_t flags) {
    open_how how{.flags = flags | O_CLOEXEC | O_NOFOLLOW,
                 .mode = 0,
                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    return Fd{static_cast<int>(::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how))};
}

// The first bytes of a regular file. O_NONBLOCK: a FIFO would keep us waiting.
std::optional<std::string> read_head(int dir, const std::string& path, std::size_t most) {
    const Fd file = open_beneath(dir, path, O_RDONLY | O_NONBLOCK);
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    // Sparse files are as long as they like.
    std::string text(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(facts.st_size)), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t n = ::read(file.get(), text.data() + got, text.size() - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += static_cast<std::size_t>(n);
    }
    text.resize(got);
    return text;
}

std::string key_of(const NameAndVersion& known) {
    return known.name + " " + known.version;
}

class Search {
public:
    Search(const DebianSet& shipped, const SearchLimits& limits)
        : shipped_{shipped}, limits_{limits}, until_{std::chrono::steady_clock::now() + limits.time} {}

    Listing run(int root) {
        debian(root);
        if (const Fd top = open_beneath(root, ".", O_RDONLY | O_DIRECTORY))
            walk(top.get(), {}, Inside::tree, 0);
        std::ranges::sort(found_.packages);
        return std::move(found_);
    }

private:
    // What a directory is to us.
    enum class Inside {
        tree,         // anything may be in here
        modules,      // node_modules, or a scope in it: each directory is a package
        npm_package,  // of interest is only a node_modules of its own
    };
    using Directory = std::unique_ptr<DIR, decltype(&::closedir)>;

    // All that there is to spend on one search is spent.
    [[nodiscard]] bool is_over() {
        over_ = over_ || entries_ > limits_.entries || found_.packages.size() >= limits_.packages ||
                bytes_ > limits_.bytes || (entries_ % 256 == 0 && std::chrono::steady_clock::now() > until_);
        if (over_) found_.complete = false;
        return over_;
    }

    void walk(int dir, const std::string& path, Inside inside, std::size_t depth) {
        if (depth > limits_.depth) {
            found_.complete = false;
            return;
        }
        Fd copy{::fcntl(dir, F_DUPFD_CLOEXEC, 0)};
        const Directory entries{::fdopendir(copy.get()), &::closedir};
        if (!entries) return;
        (void)copy.release();
        while (const dirent* entry = ::readdir(entries.get())) {
            ++entries_;
            if (is_over()) return;
            const std::string name{entry->d_name};
            if (name == "." || name == "..") continue;
            const std::string below = path.empty() ? name : path + "/" + name;
            const unsigned char type = type_of(dir, *entry);
            if (type == DT_DIR) enter(dir, name, below, inside, depth);
            if (type == DT_REG && inside == Inside::tree) file(dir, name, below);
        }
    }

    // Some file systems leave it out.
    static unsigned char type_of(int dir, const dirent& entry) {
        if (entry.d_type != DT_UNKNOWN) return entry.d_type;
        struct stat facts{};
        if (::fstatat(dir, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
        return S_ISDIR(facts.st_mode) ? DT_DIR : S_ISREG(facts.st_mode) ? DT_REG : DT_UNKNOWN;
    }

    void enter(int dir, const std::string& name, const std::string& path, Inside inside, std::size_t depth) {
        if (inside == Inside::tree && is_of_no_interest(path)) return;
        if (inside == Inside::tree && name.ends_with(".dist-info"))
            return python(dir, name + "/METADATA", path);
        if (inside == Inside::tree && name.ends_with(".egg-info"))
            return python(dir, name + "/PKG-INFO", path);
        if (inside == Inside::npm_package && name != "node_modules") return;
        Inside next = Inside::tree;
        if (name == "node_modules") {
            next = Inside::modules;
        } else if (inside == Inside::modules && name.starts_with('@')) {
            next = Inside::modules;
        } else if (inside == Inside::modules && !name.starts_with('.')) {
            npm(dir, name, path);
            next = Inside::npm_package;
        }
        if (const Fd child = open_beneath(dir, name, O_RDONLY | O_DIRECTORY)) {
            walk(child.get(), path, next, depth + 1);
        }
    }

    // Unpacked copies of what stands in a store beside them.
    static bool is_of_no_interest(std::string_view path) {
        const std::size_t module = path.rfind("pkg/mod/");
        const bool unpacked_module = module != std::string_view::npos &&
                                     (module == 0 || path[module - 1] == '/') &&
                                     !path.substr(module + 8).starts_with("cache");
        return path == kDebiansPython || path.ends_with("/registry/src") || unpacked_module;
    }

    void file(int dir, const std::string& name, const std::string& path) {
        if (name.ends_with(".egg-info")) return python(dir, name, path);
        if (!name.ends_with(".crate") && !name.ends_with(".zip")) return;
        if (auto package = stored_artefact(path)) found_.packages.push_back(*std::move(package));
    }

    [[nodiscard]] std::optional<std::string> read(int dir, const std::string& path, std::size_t most) {
        std::optional<std::string> text = read_head(dir, path, most);
        if (text) bytes_ += text->size();
        return text;
    }

    void add(Ecosystem ecosystem, std::optional<NameAndVersion> known, const std::string& path) {
        if (!known) return void(++found_.odd);
        found_.packages.push_back({.ecosystem = ecosystem,
                                   .name = std::move(known->name),
                                   .version = std::move(known->version),
                                   .path = is_plain_path(path) ? path : std::string{}});
    }

    void python(int dir, const std::string& file, const std::string& path) {
        if (const auto text = read(dir, file, kMaxMetadata))
            add(Ecosystem::python, read_python_metadata(*text), path);
    }

    void npm(int dir, const std::string& name, const std::string& path) {
        if (const auto text = read(dir, name + "/package.json", kMaxManifest))
            add(Ecosystem::npm, read_npm_manifest(*text), path);
    }

    void debian(int root) {
        const auto text = read(root, kDpkgStatus, kMaxDpkgStatus);
        if (!text) return;
        if (text->size() == kMaxDpkgStatus) found_.complete = false;
        read_dpkg_status(*text, [&](NameAndVersion known) {
            if (shipped_.contains(key_of(known)) || found_.packages.size() >= limits_.packages) return;
            add(Ecosystem::debian, std::move(known), kDpkgStatus);
        });
    }

    const DebianSet& shipped_;
    const SearchLimits& limits_;
    const std::chrono::steady_clock::time_point until_;
    std::size_t entries_ = 0;
    std::uint64_t bytes_ = 0;
    bool over_ = false;
    Listing found_;
};

}  // namespace

DebianSet installed_debian(int root) {
    DebianSet all;
    if (const auto text = read_head(root, kDpkgStatus, kMaxDpkgStatus))
        read_dpkg_status(*text, [&](const NameAndVersion& known) { all.insert(key_of(known)); });
    return all;
}

Listing find_packages(int root, const DebianSet& shipped, const SearchLimits& limits) {
    return Search{shipped, limits}.run(root);
}

}  // namespace oyat::packages
