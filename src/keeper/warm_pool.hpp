#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace oyat::keeper {

// Which running jails wait for an owner, per template, and which template should get one more. Only names:
// the boxes are held by their table. An entry is used once (threats R-02).
//
// Pools are kept for the templates asked for last; the one that was not asked for the longest gives way. A
// pool grows with each request that finds it empty, and gives back what was not needed between two calls of
// trim().
class WarmPool {
public:
    static constexpr std::size_t kMaxTemplates = 4;

    struct Size {
        std::size_t least = 0;  // entries per template; 0: no pools
        std::size_t most = 0;   // after requests that found none
    };

    explicit WarmPool(Size size) : size_{size} {}

    // Somebody asked for this template: keep a pool of it.
    void note_use(const std::string& digest);
    // A template that can't be started, or is being removed, gets no pool until it is asked for again.
    void forget(std::string_view digest);

    void put(const std::string& digest, std::string id);
    [[nodiscard]] std::optional<std::string> take(std::string_view digest);
    // The entry ended by itself, or is destroyed.
    void remove(std::string_view id);

    // The template that lacks an entry the most.
    [[nodiscard]] std::optional<std::string> missing() const;
    // Lets pools shrink to what was needed since the last call.
    void trim();
    // Entries that no pool wants any more: to be destroyed.
    [[nodiscard]] std::deque<std::string> surplus();

    [[nodiscard]] std::size_t size() const noexcept;

private:
    struct Shelf {
        std::string digest;
        std::deque<std::string> ids;
        std::size_t wanted = 0;
        std::size_t idle = 0;  // the fewest ids that lay here since the last trim()
    };
    [[nodiscard]] Shelf* find(std::string_view digest);

    Size size_;
    std::list<Shelf> shelves_;  // the last asked for first
    std::deque<std::string> surplus_;
};

}  // namespace oyat::keeper
