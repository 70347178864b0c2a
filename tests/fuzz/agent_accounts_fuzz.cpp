// passwd, group and hosts as root inside a sandbox may have written them, paths as clients send them, and
// tables of kernels that are not all Linux.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/account_files.hpp"
#include "agent/guest_words.hpp"
#include "agent/hosts_file.hpp"
#include "agent/path_rules.hpp"
#include "agent/tcp_table.hpp"
#include "base/assert.hpp"

namespace {

using namespace oyat::agent;

void check_accounts(std::string_view text) {
    for (const std::string_view name : {"root", "user", "a", ""}) {
        if (const auto account = find_account(text, name)) {
            OYAT_ASSERT(account->name == name && account->home.starts_with('/') &&
                        account->shell.starts_with('/'));
            OYAT_ASSERT(account->uid != UINT32_MAX && account->gid != UINT32_MAX);
        }
        OYAT_ASSERT(groups_of(text, name, 7).size() <= kMaxSupplementary);
        static_cast<void>(id_of_group(text, name));
    }
    static_cast<void>(name_of_id(text, 0));
}

void check_path(std::string_view text, Dots dots) {
    const auto path = resolve_path(text, "/home/user", "/work", dots);
    if (!path) return;
    OYAT_ASSERT(path->starts_with('/') && path->size() < 4096 && path->find('\0') == path->npos);
    OYAT_ASSERT(path->find("//") == path->npos && (*path == "/" || !path->ends_with('/')));
    OYAT_ASSERT(resolve_path(*path, "/", "/", dots) == *path);
}

void check_tables(std::string_view text) {
    for (const TcpConnection& each : outside_connections(text)) {
        OYAT_ASSERT(!each.remote.is_loopback() && !each.remote.text().empty());
    }
    const std::string renamed = hosts_renamed(text, "before", "after");
    OYAT_ASSERT(renamed.find("127.0.1.1 after\n") != renamed.npos);
    OYAT_ASSERT(hosts_renamed(renamed, "after", "after") == renamed);
    if (const auto words = parse_guest_words(text)) OYAT_ASSERT(!words->id.empty());
    for (const std::string& name : parse_module_order(text)) OYAT_ASSERT(name.find('/') == name.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_accounts(text);
    check_tables(text);
    check_path(text, Dots::by_name);
    check_path(text, Dots::by_links);
    return 0;
}
