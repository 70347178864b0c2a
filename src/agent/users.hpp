#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "agent/status.hpp"
#include "agent/user.hpp"

namespace oyat::agent {

// Who is who inside, from /etc/passwd and /etc/group. Both are read again when they have changed.
class Users {
public:
    // failed_precondition when there is no such user, or none that the kernel knows the ids of: the wire has
    // no code of its own for it.
    [[nodiscard]] Answer<User> find(std::string_view name);

    // Names for listings; the number as text when it has none. `refresh` looks at the files once, for many
    // names.
    void refresh();
    [[nodiscard]] const std::string& user_name(std::uint32_t uid);
    [[nodiscard]] const std::string& group_name(std::uint32_t gid);

    [[nodiscard]] Answer<std::uint32_t> uid_of(std::string_view name);
    [[nodiscard]] Answer<std::uint32_t> gid_of(std::string_view name);

private:
    // One of the two files with the names looked up in it so far.
    struct File {
        explicit File(const char* file_path) : path{file_path} {}
        void refresh();
        [[nodiscard]] const std::string& name(std::uint32_t id);

        const char* path;
        std::string text;
        std::map<std::uint32_t, std::string> names;
        struct stat seen{};
    };

    File passwd_{"/etc/passwd"};
    File group_{"/etc/group"};
};

}  // namespace oyat::agent
