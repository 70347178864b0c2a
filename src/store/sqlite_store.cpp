#include "store/sqlite_store.hpp"

#include <boost/json/parse.hpp>
#include <utility>

#include "base/log.hpp"
#include "core/event_json.hpp"

namespace oyat::store {
namespace {

constexpr std::int64_t kApplicationId = 0x6f796174;  // "oyat", in the file's header
constexpr std::int64_t kFormat = 2;

constexpr const char* kSchema = R"(
    BEGIN;
    CREATE TABLE sandbox (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, state TEXT NOT NULL, json TEXT NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE api_key (id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, tenant TEXT NOT NULL,
        scopes INTEGER NOT NULL, created_ms INTEGER NOT NULL, revoked INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    PRAGMA application_id = 1870225780;
    PRAGMA user_version = 1;
    COMMIT;
)";
// Format 2 adds what other rooms keep.
constexpr const char* kFrom1To2 = R"(
    BEGIN;
    CREATE TABLE items (kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, key))
        STRICT, WITHOUT ROWID;
    PRAGMA user_version = 2;
    COMMIT;
)";
static_assert(kApplicationId == 1'870'225'780 && kFormat == 2);

void bring_to_format(Database& database, const std::string& path) {
    const std::int64_t format = database.pragma("user_version");
    const std::int64_t application = database.pragma("application_id");
    if (format == 0 && application == 0) {
        database.execute(kSchema);
        return database.execute(kFrom1To2);
    }
    if (application != kApplicationId) {
        throw Error{Errc::failed_precondition, Fault::oyat_operator, path + " is not an oyat database"};
    }
    if (format > kFormat) {
        throw Error{Errc::failed_precondition, Fault::oyat_operator,
                    path + " has format " + std::to_string(format) + " and this oyatd knows formats up to " +
                        std::to_string(kFormat) +
                        ": it was written by a newer release, install that one again"};
    }
    if (format < 2) database.execute(kFrom1To2);
}

Result<core::SandboxRecord> parse_record(const std::string& text) {
    boost::system::error_code failed;
    const boost::json::value json = boost::json::parse(text, failed);
    if (failed || !json.is_object()) return refuse(Errc::internal, "not a JSON object");
    return core::sandbox_record_from_json(json.get_object());
}

}  // namespace

SqliteStore::SqliteStore(const std::string& path) : database_{path} {
    bring_to_format(database_, path);
}

Task<> SqliteStore::save(core::SandboxRecord record) {
    std::string json;
    core::append_json(json, core::to_json(record));
    std::string state{to_string(record.state)};
    co_await commit([id = std::move(record.id), tenant = std::move(record.tenant), state = std::move(state),
                     json = std::move(json)](Database& database) {
        database.prepare("INSERT OR REPLACE INTO sandbox VALUES (?, ?, ?, ?)")
            .bind(id, tenant, state, json)
            .step();
    });
}

Task<> SqliteStore::forget(std::string id) {
    co_await commit([id = std::move(id)](Database& database) {
        database.prepare("DELETE FROM sandbox WHERE id = ?").bind(id).step();
    });
}

Task<std::vector<core::SandboxRecord>> SqliteStore::load() {
    std::vector<core::SandboxRecord> records;
    co_await commit([&records](Database& database) {
        Statement rows = database.prepare("SELECT id, json FROM sandbox ORDER BY id");
        while (rows.step()) {
            Result<core::SandboxRecord> record = parse_record(rows.text(1));
            if (record) {
                records.push_back(*std::move(record));
            } else {  // one bad row must not keep all other sandboxes from being found again
                log::error("a sandbox record cannot be read",
                           {{"sandbox", rows.text(0)}, {"why", record.error().what()}});
            }
        }
    });
    co_return records;
}

Task<> SqliteStore::save_key(core::KeyRecord key) {
    co_await commit([key = std::move(key)](Database& database) {
        database.prepare("INSERT OR REPLACE INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?)")
            .bind(key.id, key.hash, key.name, key.tenant, std::int64_t{key.scopes}, unix_millis(key.created),
                  std::int64_t{key.revoked})
            .step();
    });
}

Task<std::vector<core::KeyRecord>> SqliteStore::load_keys() {
    std::vector<core::KeyRecord> keys;
    co_await commit([&keys](Database& database) {
        Statement rows = database.prepare(
            "SELECT id, hash, name, tenant, scopes, created_ms, revoked FROM api_key ORDER BY id");
        while (rows.step()) {
            keys.push_back({.id = rows.text(0),
                            .hash = rows.text(1),
                            .name = rows.text(2),
                            .tenant = rows.text(3),
                            .scopes = static_cast<std::uint8_t>(rows.integer(4)),
                            .created = from_unix_millis(rows.integer(5)),
                            .revoked = rows.integer(6) != 0});
        }
    });
    co_return keys;
}

Task<> SqliteStore::save_item(std::string kind, std::string key, std::string body) {
    co_await commit(
        [kind = std::move(kind), key = std::move(key), body = std::move(body)](Database& database) {
            database.prepare("INSERT OR REPLACE INTO items VALUES (?, ?, ?)").bind(kind, key, body).step();
        });
}

Task<> SqliteStore::forget_item(std::string kind, std::string key) {
    co_await commit([kind = std::move(kind), key = std::move(key)](Database& database) {
        database.prepare("DELETE FROM items WHERE kind = ? AND key = ?").bind(kind, key).step();
    });
}

Task<std::vector<core::StoredItem>> SqliteStore::load_items(std::string kind) {
    std::vector<core::StoredItem> items;
    co_await commit([&items, &kind](Database& database) {
        Statement rows = database.prepare("SELECT key, body FROM items WHERE kind = ? ORDER BY key");
        rows.bind(kind);
        while (rows.step()) items.push_back({.key = rows.text(0), .body = rows.text(1)});
    });
    co_return items;
}

// The call that the writer runs for this write may find it done already, by the call of an earlier one.
Task<> SqliteStore::commit(std::move_only_function<void(Database&)> apply) {
    auto write = std::make_shared<Write>(std::move(apply), nullptr);
    {
        const std::lock_guard lock{mutex_};
        pending_.push_back(write);
    }
    co_await writer_.run([this] { commit_pending(); });
    if (write->error) std::rethrow_exception(write->error);
}

void SqliteStore::commit_pending() {
    std::vector<std::shared_ptr<Write>> group;
    {
        const std::lock_guard lock{mutex_};
        group.swap(pending_);
    }
    if (group.empty()) return;
    try {
        Transaction transaction{database_};
        for (const auto& write : group) write->apply(database_);
        transaction.commit();
    } catch (...) {
        for (const auto& write : group) write->error = std::current_exception();
    }
}

}  // namespace oyat::store
