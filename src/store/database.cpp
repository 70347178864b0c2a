#include "store/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::store {
namespace {

Error sqlite_error(sqlite3* handle, int result) {
    const char* message = handle ? ::sqlite3_errmsg(handle) : ::sqlite3_errstr(result);
    switch (result & 0xff) {
        case SQLITE_FULL: return Error{Errc::exhausted, Fault::oyat_operator, message};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Error{Errc::failed_precondition, Fault::oyat_operator, "another process is using it"};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return Error{Errc::internal, Fault::oyat_operator, message};
        default: return Error{Errc::internal, message};
    }
}

// SQLite would create it with the umask's rights; its journals copy those of the file. Closed again before
// SQLite opens it: a process loses its POSIX locks on a file with the first descriptor of it that it closes.
void create_private_file(const std::string& path) {
    const Fd file{sys(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), "create")};
}

void check(sqlite3* handle, int result) {
    if (result != SQLITE_OK) throw sqlite_error(handle, result);
}

}  // namespace

void Database::Closer::operator()(sqlite3* handle) const noexcept {
    ::sqlite3_close(handle);
}
void Statement::Finalizer::operator()(sqlite3_stmt* handle) const noexcept {
    ::sqlite3_finalize(handle);
}

Database::Database(const std::string& path) {
    in("open " + path, [&] {
        create_private_file(path);
        sqlite3* handle = nullptr;
        const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
        const int opened = ::sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
        handle_.reset(handle);
        check(handle, opened);
        execute("PRAGMA locking_mode=EXCLUSIVE");
        execute("PRAGMA journal_mode=WAL");
        // A commit is then in the page cache: it survives the death of any process, and a power cut leaves
        // the file whole but may take the last commits with it (docs/internals/audit.md, "What survives").
        execute("PRAGMA synchronous=NORMAL");
        Transaction{*this}.commit();  // takes the lock now, not at the first write
    });
}

void Database::execute(const char* sql) {
    check(handle_.get(), ::sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

Statement Database::prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(handle_.get(), ::sqlite3_prepare_v2(handle_.get(), sql, -1, &statement, nullptr));
    return Statement{handle_.get(), statement};
}

std::int64_t Database::pragma(const char* name) {
    Statement statement = prepare(("PRAGMA " + std::string{name}).c_str());
    return statement.step() ? statement.integer(0) : 0;
}

Transaction::Transaction(Database& database) : database_{database} {
    database_.execute("BEGIN IMMEDIATE");
}

// After some failures, such as a full disk, SQLite has undone the transaction by itself.
Transaction::~Transaction() {
    sqlite3* handle = database_.handle_.get();
    if (::sqlite3_get_autocommit(handle) == 0) ::sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    database_.execute("COMMIT");
}

bool Statement::step() {
    const int result = ::sqlite3_step(handle_.get());
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    Error error = sqlite_error(database_, result);
    reset();
    throw error;
}

void Statement::reset() {
    ::sqlite3_reset(handle_.get());
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(::sqlite3_column_text(handle_.get(), column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(::sqlite3_column_bytes(handle_.get(), column)))
                 : "";
}

std::int64_t Statement::integer(int column) const {
    return ::sqlite3_column_int64(handle_.get(), column);
}

void Statement::bind_one(int index, std::string_view value) {
    check(database_, ::sqlite3_bind_text(handle_.get(), index, value.data(), static_cast<int>(value.size()),
                                         SQLITE_TRANSIENT));
}

void Statement::bind_one(int index, std::int64_t value) {
    check(database_, ::sqlite3_bind_int64(handle_.get(), index, value));
}

}  // namespace oyat::store
