#include "layers/tree_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/throwing.hpp"
#include "layers/copy_file.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

constexpr std::size_t kDeepest = 2000;  // directories in one another: each holds descriptors and stack

class Copier {
public:
    explicit Copier(int root) : root_{root} {}

    void copy_directory(int from, int to) {
        if (++depth_ > kDeepest) throw Error{Errc::exhausted, "a tree of more than 2,000 levels"};
        const std::size_t above = path_.size();
        for (const std::string& name : names_in(from)) {
            path_ += name;
            copy_name(from, to, name);
            path_.resize(above);
        }
        --depth_;
        struct stat facts{};
        sys(::fstatat(from, ".", &facts, 0), "stat of a directory");
        copy_attributes(from, to);
        copy_facts(to, "", facts);
    }

private:
    void copy_name(int from, int to, const std::string& name) {
        struct stat facts{};
        sys(::fstatat(from, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW), "stat in tree");
        if (S_ISDIR(facts.st_mode)) {
            sys(::mkdirat(to, name.c_str(), 0700), "mkdir in tree");
            path_ += '/';
            return copy_directory(open_directory(from, name).get(), open_directory(to, name).get());
        }
        if (link_to_copied(to, name, facts)) return;
        if (S_ISREG(facts.st_mode)) return copy_regular(from, to, name, facts);
        if (S_ISLNK(facts.st_mode)) {
            std::string target(static_cast<std::size_t>(facts.st_size), '\0');
            sys(::readlinkat(from, name.c_str(), target.data(), target.size()), "read link");
            sys(::symlinkat(target.c_str(), to, name.c_str()), "make link");
        } else {
            sys(::mknodat(to, name.c_str(), facts.st_mode, facts.st_rdev), "make node");
        }
        copy_facts(to, name, facts);
    }

    // Whether it is another name of a file that was copied before.
    bool link_to_copied(int to, const std::string& name, const struct stat& facts) {
        if (facts.st_nlink < 2) return false;
        const auto [known, fresh] = copied_.try_emplace({facts.st_dev, facts.st_ino}, path_);
        if (fresh) return false;
        sys(::linkat(root_, known->second.c_str(), to, name.c_str(), 0), "make hard link");
        return true;
    }

    static void copy_regular(int from_dir, int to_dir, const std::string& name, const struct stat& facts) {
        const Fd from{sys(::openat(from_dir, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "open file")};
        const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        const Fd to{sys(::openat(to_dir, name.c_str(), flags, 0600), "create file")};
        if (facts.st_size != 0) layers::copy_file(from.get(), to.get());
        sys(::fchown(to.get(), facts.st_uid, facts.st_gid), "chown in tree");  // takes capabilities away
        copy_attributes(from.get(), to.get());
        copy_facts(to_dir, name, facts);
    }

    static void copy_attributes(int from, int to) {
        std::vector<char> names(65536);
        const ssize_t size = ::flistxattr(from, names.data(), names.size());
        if (size < 0) {
            if (errno == ENOTSUP) return;
            throw errno_error(errno, "list attributes");
        }
        std::vector<char> value(65536);
        for (std::string_view rest{names.data(), static_cast<std::size_t>(size)}; !rest.empty();) {
            const std::string name{rest.substr(0, rest.find('\0'))};
            rest.remove_prefix(name.size() + 1);
            const ssize_t got =
                sys(::fgetxattr(from, name.c_str(), value.data(), value.size()), "read attribute");
            sys(::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(got), 0),
                "set attribute");
        }
    }

    // Of the directory itself when `name` is empty. The owner first: a change of it clears set-user-id.
    static void copy_facts(int dir, const std::string& name, const struct stat& facts) {
        const int itself = name.empty() ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
        sys(::fchownat(dir, name.c_str(), facts.st_uid, facts.st_gid, itself), "chown in tree");
        const std::array<timespec, 2> times{facts.st_atim, facts.st_mtim};
        if (name.empty()) {
            sys(::fchmod(dir, facts.st_mode & 07777), "chmod in tree");
            sys(::futimens(dir, times.data()), "set times in tree");
            return;
        }
        if (!S_ISLNK(facts.st_mode))
            sys(::fchmodat(dir, name.c_str(), facts.st_mode & 07777, 0), "chmod in tree");
        sys(::utimensat(dir, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), "set times in tree");
    }

    int root_;
    std::size_t depth_ = 0;
    std::string path_;                                       // of what is being copied, below the root
    std::map<std::pair<dev_t, ino_t>, std::string> copied_;  // files with several names
};

}  // namespace

void copy_tree(int from, int to) {
    Copier{to}.copy_directory(from, to);
}

}  // namespace oyat::layers
