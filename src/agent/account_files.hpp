#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// passwd(5) and group(5) as text. They belong to the sandbox, so they are hostile: pure functions, bounded,
// and a line that makes no sense is as good as absent. getpwnam(3) is not for a static program.
namespace oyat::agent {

inline constexpr std::size_t kMaxAccountFile = 1024 * 1024;
inline constexpr std::size_t kMaxSupplementary = 64;

struct Account {
    std::string name;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::string home;
    std::string shell;
};

[[nodiscard]] std::optional<Account> find_account(std::string_view passwd, std::string_view name);

// First name with this number, or nothing.
[[nodiscard]] std::string_view name_of_id(std::string_view passwd_or_group, std::uint32_t id);

[[nodiscard]] std::optional<std::uint32_t> id_of_group(std::string_view group, std::string_view name);

// The groups that list `user` as a member, and `primary`, at most kMaxSupplementary.
[[nodiscard]] std::vector<std::uint32_t> groups_of(std::string_view group, std::string_view user,
                                                   std::uint32_t primary);

}  // namespace oyat::agent
