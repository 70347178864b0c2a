#include "agent/watch_tree.hpp"

namespace oyat::agent {

void WatchTree::put(int watch, int parent, std::string name) {
    remove(watch);
    if (parent != kNoParent) children_.insert_or_assign({parent, name}, watch);
    nodes_.emplace(watch, Node{.parent = parent, .name = std::move(name)});
}

std::string WatchTree::path(int watch) const {
    const auto node = nodes_.find(watch);
    if (node == nodes_.end() || node->second.parent == kNoParent) return {};
    return join(path(node->second.parent), node->second.name);
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
