#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oyat::agent {

// Which watch descriptor stands for which directory below the watched one. A directory knows its parent, not
// its path: so a rename of one is a rename of all below it.
class WatchTree {
public:
    // The watched directory itself has no parent.
    static constexpr int kNoParent = -1;

    // A descriptor that is known already gets a new place. Below itself there is none, though after a loss of
    // events it may look so; then it is known no more.
    void put(int watch, int parent, std::string name);
    [[nodiscard]] bool contains(int watch) const { return nodes_.contains(watch); }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    // Relative to the watched directory, "" for itself.
    [[nodiscard]] std::string path(int watch) const;
    [[nodiscard]] std::optional<int> child(int parent, const std::string& name) const;
    // The directory and all below it.
    [[nodiscard]] std::vector<int> family(int watch) const;
    void remove(int watch);

private:
    struct Node {
        int parent = kNoParent;
        std::string name;
    };
    [[nodiscard]] bool is_below(int watch, int ancestor) const;

    std::map<int, Node> nodes_;
    std::map<std::pair<int, std::string>, int> children_;
};

// "a/b", or just the name in the watched directory itself.
[[nodiscard]] inline std::string join(std::string path, const std::string& name) {
    if (!path.empty()) path += '/';
    path += name;
    return path;
}

}  // namespace oyat::agent
