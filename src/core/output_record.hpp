#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/sha256.hpp"

namespace oyat::core {

// How much memory the texts of all running commands may take together. What does not fit any more is counted
// and digested, and its beginning and end are kept, but less of it.
class TextBudget {
public:
    explicit TextBudget(std::size_t bytes) : left_{bytes} {}
    [[nodiscard]] bool take(std::size_t bytes) {
        if (bytes > left_) return false;
        left_ -= bytes;
        return true;
    }
    void give_back(std::size_t bytes) { left_ += bytes; }

private:
    std::size_t left_;
};

// What the record keeps of one output of a command: its length, its digest, and the text: all of it up to 2
// MiB, else the first and the last 1 MiB.
class OutputRecord {
public:
    explicit OutputRecord(TextBudget& budget) : budget_{budget} {}
    OutputRecord(const OutputRecord&) = delete;
    OutputRecord& operator=(const OutputRecord&) = delete;
    ~OutputRecord() { budget_.give_back(taken_); }

    void add(std::string_view bytes);
    // {"bytes":n} and, when there are any, "sha256", "kept": "all" or "ends", and "text" or "head" and
    // "tail".
    [[nodiscard]] boost::json::object finish();

private:
    void keep(std::string_view bytes);
    void cut();

    TextBudget& budget_;
    std::size_t taken_ = 0;
    std::size_t limit_ = 2u << 20;  // of kept text; smaller once the budget is used up
    Sha256 digest_;
    std::uint64_t bytes_ = 0;
    bool whole_ = true;  // all is in head_
    std::string head_;
    std::string tail_;  // its last limit_ / 2 bytes count
};

}  // namespace oyat::core
