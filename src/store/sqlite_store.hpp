#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/store.hpp"
#include "io/worker_pool.hpp"
#include "store/database.hpp"

namespace oyat::store {

// What must survive a restart, in one SQLite file. One thread of its own writes; whatever has gathered while
// it was busy goes into its next transaction together, so that a burst of creates costs a few commits.
class SqliteStore final : public core::Store {
public:
    // Throws Error when the file is of a newer release, in use by another process, or not ours.
    explicit SqliteStore(const std::string& path);

    Task<> save(core::SandboxRecord record) override;
    Task<std::vector<core::SandboxRecord>> load() override;
    Task<> forget(std::string id) override;
    Task<> save_key(core::KeyRecord key) override;
    Task<std::vector<core::KeyRecord>> load_keys() override;
    Task<> save_item(std::string kind, std::string key, std::string body) override;
    Task<> forget_item(std::string kind, std::string key) override;
    Task<std::vector<core::StoredItem>> load_items(std::string kind) override;

private:
    struct Write {
        std::move_only_function<void(Database&)> apply;
        std::exception_ptr error;
    };
    Task<> commit(std::move_only_function<void(Database&)> apply);
    void commit_pending();  // on the writer's thread

    Database database_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Write>>
        pending_;                   // guarded by mutex_; shared with the coroutine that waits for it
    WorkerPool writer_{1, 65'536};  // last: its thread ends before what it uses
};

}  // namespace oyat::store
