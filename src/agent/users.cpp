#include "agent/users.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "agent/acting_as.hpp"
#include "base/fd.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kMaxCachedNames = 4096;
constexpr std::size_t kMaxName = 256;

// The file's text, or nothing when it is missing, too big or no regular file. Never blocks: root inside could
// have put a FIFO there.
std::string read_account_file(const char* path, struct stat& seen) {
    const Fd file{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!file || ::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return {};
    if (seen.st_size > static_cast<off_t>(kMaxAccountFile)) return {};
    std::string text(static_cast<std::size_t>(seen.st_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
}

bool same_version(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
           a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

std::optional<std::uint32_t> as_number(std::string_view text) {
    if (text.empty() || text.size() > 9) return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return number;
}

}  // namespace

void Users::File::refresh() {
    struct stat now{};
    if (::stat(path, &now) != 0) now = {};
    if (same_version(now, seen)) return;
    names.clear();
    seen = {};
    text = read_account_file(path, seen);
}

const std::string& Users::File::name(std::uint32_t id) {
    const auto known = names.find(id);
    if (known != names.end()) return known->second;
    if (names.size() >= kMaxCachedNames) names.clear();
    const std::string_view found = name_of_id(text, id);
    return names.emplace(id, found.empty() ? std::to_string(id) : std::string{found}).first->second;
}

void Users::refresh() {
    passwd_.refresh();
    group_.refresh();
}

Answer<User> Users::find(std::string_view name) {
    refresh();
    std::optional<Account> account;
    if (name.size() <= kMaxName) account = find_account(passwd_.text, name);
    // An image without a passwd file has its root all the same.
    if (!account && name == "root") account = Account{.name = "root", .home = "/root", .shell = "/bin/sh"};
    if (!account) return refused(Errc::failed_precondition, "user " + quoted(name) + " does not exist");
    std::vector<std::uint32_t> groups = groups_of(group_.text, account->name, account->gid);
    User user{.account = *std::move(account), .groups = std::move(groups)};
    if (!can_act_as(user)) {
        return refused(Errc::failed_precondition, "user " + quoted(name) + " has ids that do not exist here");
    }
    return user;
}

const std::string& Users::user_name(std::uint32_t uid) {
    return passwd_.name(uid);
}
const std::string& Users::group_name(std::uint32_t gid) {
    return group_.name(gid);
}

Answer<std::uint32_t> Users::uid_of(std::string_view name) {
    refresh();
    if (const auto account = find_account(passwd_.text, name)) return account->uid;
    if (const auto number = as_number(name)) return *number;
    return refused(Errc::failed_precondition, "user " + quoted(name) + " does not exist");
}

Answer<std::uint32_t> Users::gid_of(std::string_view name) {
    refresh();
    if (const auto id = id_of_group(group_.text, name)) return *id;
    if (const auto number = as_number(name)) return *number;
    return refused(Errc::failed_precondition, "group " + quoted(name) + " does not exist");
}

}  // namespace oyat::agent
