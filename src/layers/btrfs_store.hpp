#pragma once

#include <map>
#include <memory>
#include <string>

#include "layers/loop_mount.hpp"
#include "layers/shelf.hpp"
#include "layers/store.hpp"

namespace oyat::layers {

// One subvolume with a quota group a box: an exact limit in bytes, data and metadata alike, 0.05 ms to make
// and 0.08 ms to discard. Inodes are not counted, but each takes some 480 bytes of the same limit.
class BtrfsStore final : public Store {
public:
    // `root` is a directory of a btrfs with quotas on; `image` the mount that it lives in, unless it is the
    // host's.
    BtrfsStore(Fd root, std::string state_dir, std::string where, std::unique_ptr<LoopMount> image);

    Fd make_box(std::string_view id, const DiskLimit& limit) override;
    Fd open_box(std::string_view id, const DiskLimit& limit) override;
    Fd reopen_box(std::string_view id, const DiskLimit& limit) override;
    [[nodiscard]] Fd box(std::string_view id) const override;
    void set_limit(std::string_view id, const DiskLimit& limit) override;
    [[nodiscard]] DiskUse use(std::string_view id) const override;
    void save(std::string_view id, std::string_view saved) const override;
    [[nodiscard]] bool begins_full() const override { return true; }
    void begin_box_of(std::string_view saved, std::string_view id, const DiskLimit& limit) override;
    void fill(std::string_view saved, std::string_view id) const override;
    [[nodiscard]] std::vector<std::string> saved() const override { return shelf_.saved_names(); }
    void drop(std::string_view saved) override;
    [[nodiscard]] std::vector<std::string> boxes() const override { return shelf_.box_names(); }
    void discard(std::string_view id) override;
    [[nodiscard]] std::size_t trash() const override { return shelf_.trash_names().size(); }
    [[nodiscard]] int trash_directory() const override { return shelf_.trash(); }
    void remove_discarded(int trash) const override;
    [[nodiscard]] const StoreFacts& facts() const override { return facts_; }
    [[nodiscard]] StoreRoom room() const override;

private:
    struct Known {
        std::uint64_t subvolume = 0;
        DiskLimit limit;
    };

    Fd open_and_note(const std::string& id, const DiskLimit& limit);

    std::unique_ptr<LoopMount>
        image_;  // first, so that the descriptors below are closed before it is unmounted
    Fd root_;
    Shelf shelf_;
    std::string state_dir_;
    StoreFacts facts_;
    std::map<std::string, Known, std::less<>> known_;
};

}  // namespace oyat::layers
