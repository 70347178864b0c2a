#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "layers/bound_view.hpp"
#include "layers/loop_mount.hpp"
#include "layers/project_quota.hpp"
#include "layers/shelf.hpp"
#include "layers/store.hpp"
#include "layers/tree_meter.hpp"

namespace oyat::layers {

// A plain directory a box. With project quota the kernel limits and counts it, bytes and inodes; without, it
// is only measured now and then ("watched"), and the keeper has to act on what it learns.
class DirectoryStore final : public Store {
public:
    enum class Limit { project_quota, watched };

    // Boxes stand in `root`; `image` is the mount that it lives in, unless it is the host's.
    DirectoryStore(Fd root, const StoreOptions& options, std::string where, Limit limit,
                   const Staging& staging, std::unique_ptr<LoopMount> image);

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
    struct Known {
        DiskLimit limit;
        std::unique_ptr<TreeMeter> meter;
    };

    Known& note(std::string_view id, const DiskLimit& limit);

    std::unique_ptr<LoopMount> image_;
    BoundView view_;
    Fd root_;
    Shelf shelf_;
    std::optional<ProjectQuota> quota_;
    std::string state_dir_;
    StoreFacts facts_;
    std::map<std::string, Known, std::less<>> known_;
};

}  // namespace oyat::layers
