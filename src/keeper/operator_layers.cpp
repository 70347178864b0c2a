#include "keeper/operator_layers.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "keeper/operator_files.hpp"

namespace oyat::keeper {
namespace {

namespace fs = std::filesystem;

constexpr Millis kLookAgainAfter{2000};
constexpr std::size_t kLargestFile = std::size_t{8} << 20;
constexpr const char* kFormat = "1";  // of the layers that this program makes

// Below a root directory, whatever links lie on the way. The image's are hostile, the host's merely come out
// right.
Fd open_below(int root, const std::string& path, std::uint64_t flags) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    return Fd{static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how))};
}

class Directory final : public TextSource {
public:
    explicit Directory(int root) : root_{root} {}

    std::string read(const std::string& path) const override {
        const Fd file = open_below(root_, path, O_RDONLY | O_NONBLOCK);
        struct stat status{};
        if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
        std::string text;
        std::array<char, std::size_t{16} << 10> part;
        for (ssize_t n = 0; (n = ::read(file.get(), part.data(), part.size())) > 0;) {
            text.append(part.data(), static_cast<std::size_t>(n));
            if (text.size() > kLargestFile) return {};
        }
        return text;
    }

    std::vector<std::string> list(const std::string& dir, std::string_view suffix) const override {
        std::vector<std::string> found;
        const Fd opened = open_below(root_, dir, O_RDONLY | O_DIRECTORY);
        std::error_code none;
        for (const auto& entry :
             fs::directory_iterator{"/proc/self/fd/" + std::to_string(opened.get()), none}) {
            const std::string name = entry.path().filename();
            if (name.ends_with(suffix)) found.push_back(dir + "/" + name);
        }
        std::ranges::sort(found);
        return found;
    }

private:
    int root_;
};

// All that a layer is made from, so that a change of any of it is seen without reading it.
std::string fingerprint_of(const TextSource& host) {
    std::vector<std::string> inputs{"etc/ssl/certs/ca-certificates.crt",
                                    "etc/pip.conf",
                                    "root/.config/pip/pip.conf",
                                    "root/.pip/pip.conf",
                                    "root/.npmrc",
                                    "etc/npmrc",
                                    "usr/etc/npmrc",
                                    "usr/local/etc/npmrc",
                                    "etc/os-release",
                                    "etc/apt/sources.list",
                                    "etc/apt/apt.conf",
                                    "etc/hosts"};
    for (const char* dir :
         {"usr/local/share/ca-certificates", "etc/apt/sources.list.d", "etc/apt/apt.conf.d"}) {
        std::ranges::copy(host.list(dir, ""), std::back_inserter(inputs));
    }
    std::string text = kFormat;
    for (const std::string& input : inputs) {
        struct stat status{};
        if (::stat(("/" + input).c_str(), &status) != 0) continue;
        text += "\n" + input + " " + std::to_string(status.st_ino) + " " + std::to_string(status.st_size) +
                " " + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
    }
    return sha256_hex(text).substr(0, 16);
}

// The directory at `path` in the new layer, with the looks of the image's: in an overlay the upper one's
// count. False where the image has something else there (a link, say): a directory of ours would hide it.
bool make_directories(int layer, int image, const fs::path& path) {
    fs::path so_far;
    for (const fs::path& part : path) {
        so_far /= part;
        struct stat own{.st_mode = 0755};
        if (::fstatat(image, so_far.c_str(), &own, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(own.st_mode))
            return false;
        if (::mkdirat(layer, so_far.c_str(), own.st_mode & 07777) != 0) {
            if (errno == EEXIST) continue;
            throw errno_error(errno, "make a directory of the operator's layer");
        }
        sys(::fchownat(layer, so_far.c_str(), own.st_uid, own.st_gid, AT_SYMLINK_NOFOLLOW), "set its owner");
        sys(::fchmodat(layer, so_far.c_str(), own.st_mode & 07777, 0), "set its mode");
    }
    return true;
}

void write_file(int layer, int image, const std::string& path, const std::string& text) {
    if (!make_directories(layer, image, fs::path{path}.parent_path())) return;
    const Fd file{
        sys(::openat(layer, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "make " + path)};
    sys(::fchmod(file.get(), 0644), "set the mode of " + path);
    if (sys(::write(file.get(), text.data(), text.size()), "write " + path) !=
        static_cast<ssize_t>(text.size())) {
        throw Error{Errc::exhausted, Fault::oyat_operator, "the state's file system is full"};
    }
}

void make_layer(const std::string& path, const TextSource& host, int image) {
    const std::string draft = path + ".new";
    fs::remove_all(draft);
    sys(::mkdir(draft.c_str(), 0755), "make " + draft);
    sys(::chmod(draft.c_str(), 0755), "set the mode of " + draft);
    const Fd layer{sys(::open(draft.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + draft)};
    for (const auto& [name, text] : compose_operator_files(host, Directory{image})) {
        write_file(layer.get(), image, name, text);
    }
    sys(::rename(draft.c_str(), path.c_str()), "keep " + path);
}

Fd host_root() {
    return Fd{sys(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "open the host's root")};
}

}  // namespace

OperatorLayers::OperatorLayers(const std::string& dir) : dir_{dir} {
    if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) throw errno_error(errno, "make " + dir);
}

void OperatorLayers::look_at_host() {
    const MonoTime now = std::chrono::steady_clock::now();
    if (!fingerprint_.empty() && now - looked_ < kLookAgainAfter) return;
    const Fd root = host_root();
    const Directory host{root.get()};
    fingerprint_ = fingerprint_of(host);
    hosts_ = operator_hosts(host);
    looked_ = now;
}

const std::string& OperatorLayers::hosts() {
    look_at_host();
    return hosts_;
}

Fd OperatorLayers::layer_for(std::string_view template_digest, int image) {
    return in("operator's layer", [&] {
        look_at_host();
        const std::string path = dir_ + "/" + fingerprint_ + "-" +
                                 std::string{template_digest.substr(template_digest.find(':') + 1)};
        constexpr int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
        Fd layer{::open(path.c_str(), flags)};
        if (layer) return layer;
        const Fd root = host_root();
        make_layer(path, Directory{root.get()}, image);
        return Fd{sys(::open(path.c_str(), flags), "open " + path)};
    });
}

void OperatorLayers::remove_outdated() noexcept {
    try {
        look_at_host();
        for (const auto& entry : fs::directory_iterator{dir_}) {
            if (!entry.path().filename().string().starts_with(fingerprint_)) fs::remove_all(entry.path());
        }
    } catch (const std::exception& error) {
        log::warn("could not remove outdated operator layers", {{"why", error.what()}});
    }
}

}  // namespace oyat::keeper
