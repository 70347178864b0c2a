#include "cgroup/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/throwing.hpp"

namespace oyat::cgroup {
namespace {

std::uint64_t number_at_start(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// Calls `visit` with each piece of `text` between separators until it returns false.
template <class Visit>
void for_each_piece(std::string_view text, std::string_view separators, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(separators);
        if (!visit(text.substr(0, end))) return;
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

Fd open_control(int dir, const std::string& name, int flags) {
    return Fd{sys(::openat(dir, name.c_str(), flags | O_CLOEXEC), "open " + name)};
}

void write_control(int dir, const std::string& name, std::string_view value) {
    const Fd file = open_control(dir, name, O_WRONLY);
    if (::write(file.get(), value.data(), value.size()) >= 0) return;
    throw errno_error(errno, "write " + std::string{value} + " to " + name);
}

bool write_control_if_present(int dir, const std::string& name, std::string_view value) {
    try {
        write_control(dir, name, value);
        return true;
    } catch (const Error& e) {
        if (e.code() != Errc::not_found) throw;
        return false;
    }
}

std::optional<std::string> read_control(int dir, const std::string& name) {
    const Fd file{::openat(dir, name.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) {
        if (errno == ENOENT) return std::nullopt;
        throw errno_error(errno, "open " + name);
    }
    return in("read " + name, [&] { return read_open(file.get()); });
}

std::string read_open(int file) {
    constexpr std::size_t kMost = 64 * 1024;
    std::array<char, 4096> buffer;
    std::string text;
    while (text.size() < kMost) {
        const auto offset = static_cast<off_t>(text.size());
        const ssize_t got = sys(::pread(file, buffer.data(), buffer.size(), offset), "read control file");
        if (got == 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::uint64_t read_number(int dir, const std::string& name) {
    return number_at_start(read_control(dir, name).value_or(""));
}

std::vector<std::string> directories_in(int dir) {
    Fd again{sys(::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open group directory")};
    const std::unique_ptr<DIR, int (*)(DIR*)> stream{::fdopendir(again.get()), ::closedir};
    if (!stream) throw errno_error(errno, "list groups");
    (void)again.release();  // the stream owns it now
    std::vector<std::string> found;
    while (const dirent* entry = ::readdir(stream.get())) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') found.emplace_back(entry->d_name);
    }
    return found;
}

bool is_present(int dir, const std::string& name) {
    return ::faccessat(dir, name.c_str(), F_OK, 0) == 0;
}

std::uint64_t keyed_number(std::string_view text, std::string_view key) {
    std::uint64_t value = 0;
    for_each_piece(text, "\n", [&](std::string_view line) {
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') return true;
        value = number_at_start(line.substr(key.size() + 1));
        return false;
    });
    return value;
}

bool has_word(std::string_view text, std::string_view word) {
    bool found = false;
    for_each_piece(text, " \n,", [&](std::string_view piece) {
        found = piece == word;
        return !found;
    });
    return found;
}

}  // namespace oyat::cgroup
