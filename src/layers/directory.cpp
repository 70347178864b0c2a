#include "layers/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/throwing.hpp"

namespace oyat::layers {

std::vector<std::string> names_in(int dir) {
    Fd again{sys(::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open directory to list it")};
    const std::unique_ptr<DIR, int (*)(DIR*)> stream{::fdopendir(again.get()), ::closedir};
    if (!stream) throw errno_error(errno, "list directory");
    (void)again.release();  // the stream owns it now
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::ranges::sort(names);
    return names;
}

Fd open_directory(int dir, const std::string& name) {
    return Fd{
        sys(::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "open " + name)};
}

Fd make_directory(int dir, const std::string& name, mode_t mode) {
    if (::mkdirat(dir, name.c_str(), mode) != 0 && errno != EEXIST) throw errno_error(errno, "mkdir " + name);
    return open_directory(dir, name);
}

Fd make_directories(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path{path}.parent_path();
    if (!parent.empty()) std::filesystem::create_directories(parent);
    return make_directory(AT_FDCWD, path, 0700);
}

std::string read_file(int dir, const std::string& name) {
    const Fd file{sys(::openat(dir, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "open " + name)};
    std::string text;
    std::array<char, 4096> buffer;
    while (const ssize_t got = sys(::read(file.get(), buffer.data(), buffer.size()), "read " + name)) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

void replace_file(int dir, const std::string& name, const std::string& text) {
    const std::string temporary = name + ".new";
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    const Fd file{sys(::openat(dir, temporary.c_str(), flags, 0600), "create " + temporary)};
    if (sys(::write(file.get(), text.data(), text.size()), "write " + name) !=
        static_cast<ssize_t>(text.size())) {
        throw Error{Errc::exhausted, Fault::oyat_operator, "the state's file system is full"};
    }
    sys(::fsync(file.get()), "sync " + name);
    sys(::renameat(dir, temporary.c_str(), dir, name.c_str()), "rename " + name);
}

namespace {

// Its new name, or none when another remover has taken it. A removal that was cut short may have left some
// names.
std::string move_aside(int dir, const std::string& name, int inner, const std::string& entry,
                       unsigned& count) {
    for (;;) {
        std::string aside = name + "~" + std::to_string(++count);
        if (::renameat2(inner, entry.c_str(), dir, aside.c_str(), RENAME_NOREPLACE) == 0) return aside;
        if (errno == ENOENT) return {};
        if (errno != EEXIST) throw errno_error(errno, "rename within " + name);
    }
}

// Empties one directory: files are unlinked, subdirectories with something in them are renamed to
// `dir/name~N`, to be emptied in their turn. So a tree a million levels deep is never deeper than one, and no
// path grows.
void empty_into(int dir, const std::string& name, int inner, std::vector<std::string>& more,
                unsigned& count) {
    for (const std::string& entry : names_in(inner)) {
        if (::unlinkat(inner, entry.c_str(), 0) == 0) continue;
        if (errno == ENOENT) continue;
        if (errno != EISDIR && errno != EPERM) throw errno_error(errno, "remove from " + name);
        if (::unlinkat(inner, entry.c_str(), AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) continue;
        const std::string aside = move_aside(dir, name, inner, entry, count);
        if (!aside.empty()) more.push_back(aside);
    }
}

}  // namespace

void remove_tree(int dir, const std::string& name) {
    if (::unlinkat(dir, name.c_str(), 0) == 0) return;
    std::vector<std::string> more{name};
    unsigned count = 0;
    while (!more.empty()) {
        const std::string next = std::move(more.back());
        more.pop_back();
        {
            const Fd inner{::openat(dir, next.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
            if (!inner && errno == ENOENT) continue;  // another remover was faster
            sys(inner.get(), "open " + next);
            empty_into(dir, name, inner.get(), more, count);
        }
        if (::unlinkat(dir, next.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
            throw errno_error(errno, "remove " + next);
        }
    }
}

std::string_view without_rest_number(std::string_view name) {
    return name.substr(0, name.find('~'));
}

void remove_tree_and_rests(int dir, const std::string& name) {
    for (const std::string& each : names_in(dir)) {
        if (without_rest_number(each) == name) remove_tree(dir, each);
    }
}

}  // namespace oyat::layers
