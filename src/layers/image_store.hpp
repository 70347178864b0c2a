#pragma once

#include <map>
#include <memory>
#include <string>

#include "layers/loop_mount.hpp"
#include "layers/shelf.hpp"
#include "layers/store.hpp"

namespace oyat::layers {

// One ext4 file system in a sparse image file a box: hard limits of bytes and of inodes on any file system,
// for 3 ms a box. A box's image is a copy of one that was formatted for its limits before, by sharing its
// blocks where the state's file system can (XFS), else by copying the few that are not holes; so no box ever
// sees another's old blocks.
class ImageStore final : public Store {
public:
    enum class Copy { share_blocks, sparse };

    ImageStore(const std::string& state_dir, Copy copy, const Staging& staging);

    Fd make_box(std::string_view id, const DiskLimit& limit) override;
    Fd open_box(std::string_view id, const DiskLimit& limit) override;
    Fd reopen_box(std::string_view id, const DiskLimit& limit) override;
    [[nodiscard]] Fd box(std::string_view id) const override;
    void set_limit(std::string_view id, const DiskLimit& limit) override;
    [[nodiscard]] DiskUse use(std::string_view id) const override;
    void save(std::string_view id, std::string_view saved) const override;
    [[nodiscard]] bool begins_full() const override { return false; }
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
    struct Mounted {
        std::unique_ptr<LoopMount> mount;
        DiskLimit limit;
    };

    Fd formatted_image(const DiskLimit& limit) const;
    Fd copy_image(const Fd& from, int directory, const std::string& name) const;
    static Fd open_image(int directory, std::string_view name);
    Fd mount_box(const std::string& id, int image, const DiskLimit& limit);

    std::string state_dir_;
    Copy copy_;
    const Staging& staging_;
    Fd state_;
    Fd formatted_;  // the directory of images to copy from, named by their limits
    Shelf shelf_;
    StoreFacts facts_;
    std::map<std::string, Mounted, std::less<>> mounted_;
};

}  // namespace oyat::layers
