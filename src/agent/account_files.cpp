#include "agent/account_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace oyat::agent {
namespace {

// Takes the text up to `separator` off the front of `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
    const std::size_t at = std::min(rest.find(separator), rest.size());
    const std::string_view head = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return head;
}

template <std::size_t N>
std::array<std::string_view, N> split(std::string_view line) {
    std::array<std::string_view, N> fields;
    for (std::string_view& field : fields) field = take_until(line, ':');
    return fields;
}

// 2^32-1 means "no change" to chown(2) and setresuid(2), so nobody can have it.
std::optional<std::uint32_t> parse_id(std::string_view text) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size() || id == UINT32_MAX) return std::nullopt;
    return id;
}

}  // namespace

std::optional<Account> find_account(std::string_view passwd, std::string_view name) {
    if (name.empty()) return std::nullopt;
    while (!passwd.empty()) {
        const auto [login, password, uid, gid, comment, home, shell] = split<7>(take_until(passwd, '\n'));
        if (login != name) continue;
        const auto uid_number = parse_id(uid);
        const auto gid_number = parse_id(gid);
        if (!uid_number || !gid_number) continue;
        return Account{.name = std::string{name},
                       .uid = *uid_number,
                       .gid = *gid_number,
                       .home = home.starts_with('/') ? std::string{home} : "/",
                       .shell = shell.starts_with('/') ? std::string{shell} : "/bin/sh"};
    }
    return std::nullopt;
}

std::string_view name_of_id(std::string_view passwd_or_group, std::uint32_t id) {
    while (!passwd_or_group.empty()) {
        const auto [name, password, number] = split<3>(take_until(passwd_or_group, '\n'));
        if (!name.empty() && parse_id(number) == id) return name;
    }
    return {};
}

std::optional<std::uint32_t> id_of_group(std::string_view group, std::string_view name) {
    while (!group.empty() && !name.empty()) {
        const auto [each, password, number] = split<3>(take_until(group, '\n'));
        if (each == name) return parse_id(number);
    }
    return std::nullopt;
}

std::vector<std::uint32_t> groups_of(std::string_view group, std::string_view user, std::uint32_t primary) {
    std::vector<std::uint32_t> ids{primary};
    while (!group.empty() && ids.size() < kMaxSupplementary) {
        auto [name, password, number, members] = split<4>(take_until(group, '\n'));
        const auto id = parse_id(number);
        if (!id || std::ranges::find(ids, *id) != ids.end()) continue;
        while (!members.empty()) {
            if (take_until(members, ',') == user) {
                ids.push_back(*id);
                break;
            }
        }
    }
    return ids;
}

}  // namespace oyat::agent
