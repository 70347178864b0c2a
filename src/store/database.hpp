#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace oyat::store {

class Statement;

// One open SQLite file. Used by one thread at a time. Everything throws Error; a full disk is
// Errc::exhausted.
class Database {
public:
    // Creates the file with mode 0600 when there is none. The process keeps it for itself: a second one that
    // opens the same file is refused (the lock dies with its owner, also by kill -9).
    explicit Database(const std::string& path);

    void execute(const char* sql);
    [[nodiscard]] Statement prepare(const char* sql);
    [[nodiscard]] std::int64_t pragma(const char* name);

private:
    friend class Transaction;
    struct Closer {
        void operator()(sqlite3* handle) const noexcept;
    };
    std::unique_ptr<sqlite3, Closer> handle_;
};

// All or nothing: what was not committed is undone at the end of the scope.
class Transaction {
public:
    explicit Transaction(Database& database);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

private:
    Database& database_;
};

// A prepared statement: bind the values in order, step through the rows, reset by the next bind.
class Statement {
public:
    template <class... Values>
    Statement& bind(const Values&... values) {
        reset();
        int index = 0;
        (bind_one(++index, values), ...);
        return *this;
    }
    bool step();  // true: there is a row
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;

private:
    friend class Database;
    struct Finalizer {
        void operator()(sqlite3_stmt* handle) const noexcept;
    };
    Statement(sqlite3* database, sqlite3_stmt* handle) : database_{database}, handle_{handle} {}
    void reset();
    void bind_one(int index, std::string_view value);
    void bind_one(int index, std::int64_t value);

    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

}  // namespace oyat::store
