#include "layers/btrfs.hpp"

#include <endian.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/throwing.hpp"

namespace oyat::layers::btrfs {
namespace {

void name_into(char* field, std::size_t size, const std::string& name) {
    if (name.size() >= size) throw Error{Errc::invalid_argument, "subvolume name too long"};
    std::memcpy(field, name.c_str(), name.size() + 1);
}

// The figures of one subvolume's quota group. Nothing when quotas are off or it has none.
std::optional<btrfs_qgroup_info_item> find_quota_info(int root, std::uint64_t subvolume_id) {
    btrfs_ioctl_search_args search{};
    search.key = {.tree_id = BTRFS_QUOTA_TREE_OBJECTID,
                  .min_objectid = 0,
                  .max_objectid = 0,
                  .min_offset = subvolume_id,
                  .max_offset = subvolume_id,
                  .min_transid = 0,
                  .max_transid = UINT64_MAX,
                  .min_type = BTRFS_QGROUP_INFO_KEY,
                  .max_type = BTRFS_QGROUP_INFO_KEY,
                  .nr_items = 1};
    if (::ioctl(root, BTRFS_IOC_TREE_SEARCH, &search) != 0) {
        if (errno == ENOENT) return std::nullopt;
        throw errno_error(errno, "search quota tree");
    }
    btrfs_ioctl_search_header header{};
    if (search.key.nr_items == 0) return std::nullopt;
    std::memcpy(&header, search.buf, sizeof header);
    btrfs_qgroup_info_item item{};
    if (header.len < sizeof item) return std::nullopt;
    std::memcpy(&item, search.buf + sizeof header, sizeof item);
    return item;
}

}  // namespace

void enable_quota(int root) {
    btrfs_ioctl_quota_ctl_args args{.cmd = BTRFS_QUOTA_CTL_ENABLE};
    sys(::ioctl(root, BTRFS_IOC_QUOTA_CTL, &args), "turn on btrfs quotas");
}

bool quota_is_on(int root) {
    return find_quota_info(root, BTRFS_FS_TREE_OBJECTID).has_value();
}

void create_subvolume(int parent, const std::string& name) {
    btrfs_ioctl_vol_args args{};
    name_into(args.name, sizeof args.name, name);
    sys(::ioctl(parent, BTRFS_IOC_SUBVOL_CREATE, &args), "make subvolume " + name);
}

void copy_subvolume(int of, int parent, const std::string& name) {
    btrfs_ioctl_vol_args_v2 args{};
    args.fd = of;
    name_into(args.name, sizeof args.name, name);
    sys(::ioctl(parent, BTRFS_IOC_SNAP_CREATE_V2, &args), "copy subvolume as " + name);
}

void destroy_subvolume(int parent, const std::string& name) {
    btrfs_ioctl_vol_args args{};
    name_into(args.name, sizeof args.name, name);
    sys(::ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &args), "remove subvolume " + name);
}

std::uint64_t subvolume_id(int subvolume) {
    btrfs_ioctl_get_subvol_info_args info{};
    sys(::ioctl(subvolume, BTRFS_IOC_GET_SUBVOL_INFO, &info), "look at subvolume");
    return info.treeid;
}

void limit_subvolume(int subvolume, std::uint64_t bytes) {
    btrfs_ioctl_qgroup_limit_args args{};  // qgroup 0: that of the subvolume itself
    args.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
    args.lim.max_rfer = bytes == 0 ? UINT64_MAX : bytes;  // all ones: takes the limit away
    sys(::ioctl(subvolume, BTRFS_IOC_QGROUP_LIMIT, &args), "limit subvolume");
}

std::uint64_t used_bytes(int root, std::uint64_t subvolume_id) {
    const std::optional<btrfs_qgroup_info_item> info = find_quota_info(root, subvolume_id);
    return info ? le64toh(info->rfer) : 0;
}

}  // namespace oyat::layers::btrfs
