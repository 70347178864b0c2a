#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::http {

// Compresses a stream piece by piece, into one gzip member.
class Gzip {
public:
    Gzip();
    ~Gzip();
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    // What the piece came to; possibly nothing yet.
    [[nodiscard]] std::string put(std::string_view piece);
    [[nodiscard]] std::string end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Unpacks a gzip stream of one or more members. Hostile input: it yields at most kMostAtOnce for each call,
// so that a small piece that stands for gigabytes is written on before the rest of it is unpacked.
class Gunzip {
public:
    static constexpr std::size_t kMostAtOnce = 256 * 1024;

    Gunzip();
    ~Gunzip();
    Gunzip(const Gunzip&) = delete;
    Gunzip& operator=(const Gunzip&) = delete;

    // Takes a piece; the views stay valid until the next put(). All of the last piece must have been taken
    // out.
    void put(std::string_view piece);
    // The next bytes, "" when all that was put is used up. Refuses what is no gzip.
    [[nodiscard]] Result<std::string> take();
    // False when the stream stopped inside a member.
    [[nodiscard]] bool at_end() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace oyat::http
