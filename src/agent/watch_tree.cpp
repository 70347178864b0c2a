#include "agent/watch_tree.hpp"

#include <ranges>

namespace oyat::agent {

void WatchTree::put(int watch, int parent, std::string name) {
    remove(watch);
    if (is_below(parent, watch)) return;
    if (parent != kNoParent) children_.insert_or_assign({parent, name}, watch);
    nodes_.emplace(watch, Node{.parent = parent, .name = std::move(name)});
}

std::string WatchTree::path(int watch) const {
    // Not by calling itself: whoever moves directories into one another makes a tree of any depth.
    std::vector<const std::string*> names;
    for (auto node = nodes_.find(watch); node != nodes_.end() && node->second.parent != kNoParent;
         node = nodes_.find(node->second.parent)) {
        names.push_back(&node->second.name);
    }
    std::string path;
    for (const std::string* name : std::views::reverse(names)) path = join(std::move(path), *name);
    return path;
}

std::optional<int> WatchTree::child(int parent, const std::string& name) const {
    const auto found = children_.find({parent, name});
    if (found == children_.end()) return std::nullopt;
    return found->second;
}

std::vector<int> WatchTree::family(int watch) const {
    std::vector<int> all;
    for (const auto& [each, node] : nodes_) {
        if (is_below(each, watch)) all.push_back(each);
    }
    return all;
}

bool WatchTree::is_below(int watch, int ancestor) const {
    while (watch != ancestor) {
        const auto node = nodes_.find(watch);
        if (node == nodes_.end() || node->second.parent == kNoParent) return false;
        watch = node->second.parent;
    }
    return true;
}

void WatchTree::remove(int watch) {
    const auto node = nodes_.find(watch);
    if (node == nodes_.end()) return;
    const auto place = children_.find({node->second.parent, node->second.name});
    // Another directory may have taken the name meanwhile.
    if (place != children_.end() && place->second == watch) children_.erase(place);
    nodes_.erase(node);
}

}  // namespace oyat::agent
