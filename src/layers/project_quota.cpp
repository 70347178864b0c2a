#include "layers/project_quota.hpp"

#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

constexpr std::uint32_t kFirstNumber = 0x40000000;  // far from the small ones that people give by hand
constexpr std::uint32_t kNumbers = 0x3F000000;
constexpr std::uint64_t kBlock =
    1024;  // the unit of limits in if_dqblk, whatever the file system's blocks are

long quotactl_fd(int fd, int command, std::uint32_t number, if_dqblk* block) {
    return ::syscall(SYS_quotactl_fd, fd, QCMD(command, PRJQUOTA), number, block);
}

// The figures of a number; nothing when the file system has none for it.
std::optional<if_dqblk> find_block(int directory, std::uint32_t number) {
    if_dqblk block{};
    if (quotactl_fd(directory, Q_GETQUOTA, number, &block) == 0) return block;
    if (errno == ENOENT) return std::nullopt;
    throw errno_error(errno, "read project quota");
}

bool is_free(int directory, std::uint32_t number) {
    const std::optional<if_dqblk> block = find_block(directory, number);
    return !block || (block->dqb_curinodes == 0 && block->dqb_bhardlimit == 0 && block->dqb_ihardlimit == 0);
}

void write_limit(int directory, std::uint32_t number, const DiskLimit& limit) {
    if_dqblk block{};
    block.dqb_bhardlimit = (limit.bytes + kBlock - 1) / kBlock;
    block.dqb_bsoftlimit = block.dqb_bhardlimit;
    block.dqb_ihardlimit = limit.inodes;
    block.dqb_isoftlimit = limit.inodes;
    block.dqb_valid = QIF_LIMITS;
    sys(quotactl_fd(directory, Q_SETQUOTA, number, &block), "set project quota");
}

fsxattr attributes_of(int directory) {
    fsxattr attributes{};
    sys(::ioctl(directory, FS_IOC_FSGETXATTR, &attributes), "read project of directory");
    return attributes;
}

}  // namespace

ProjectQuota::ProjectQuota(int directory, const std::string& state_id)
    : next_{kFirstNumber + static_cast<std::uint32_t>(std::hash<std::string>{}(state_id) % kNumbers)} {
    (void)find_block(directory, next_);
}

void ProjectQuota::enter(int directory, const DiskLimit& limit) {
    while (!is_free(directory, next_)) ++next_;
    write_limit(directory, next_, limit);
    fsxattr attributes = attributes_of(directory);
    attributes.fsx_projid = next_++;
    attributes.fsx_xflags |= FS_XFLAG_PROJINHERIT;
    sys(::ioctl(directory, FS_IOC_FSSETXATTR, &attributes), "give directory its project");
}

void ProjectQuota::set_limit(int directory, const DiskLimit& limit) const {
    write_limit(directory, number_of(directory), limit);
}

DiskUse ProjectQuota::use(int directory) const {
    const if_dqblk block = find_block(directory, number_of(directory)).value_or(if_dqblk{});
    return {.bytes = block.dqb_curspace,
            .inodes = block.dqb_curinodes,
            .limit = {.bytes = block.dqb_bhardlimit * kBlock, .inodes = block.dqb_ihardlimit}};
}

void ProjectQuota::forget(int directory, std::uint32_t number) {
    write_limit(directory, number, {});
}

std::uint32_t ProjectQuota::number_of(int directory) {
    return attributes_of(directory).fsx_projid;
}

}  // namespace oyat::layers
