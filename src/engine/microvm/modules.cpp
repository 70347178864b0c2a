#include "engine/microvm/modules.hpp"

#include <algorithm>
#include <set>

namespace oyat::microvm {
namespace {

class Order {
public:
    explicit Order(const Modules& modules) : modules_{modules} {}

    // False when `name` is needed by one that it needs itself.
    bool add(const std::string& name) {
        const auto module = modules_.find(name);
        if (module == modules_.end() || done_.contains(name)) return true;
        if (!open_.insert(name).second) return false;
        for (const std::string& needed : needs_of(module->second)) {
            if (!add(needed)) return false;
        }
        open_.erase(name);
        done_.insert(name);
        order.push_back(name);
        return true;
    }

    std::vector<std::string> order;

private:
    const Modules& modules_;
    std::set<std::string> open_;
    std::set<std::string> done_;
};

}  // namespace

std::string module_name(std::string_view file) {
    constexpr std::string_view kEnding = ".ko";
    if (!file.ends_with(kEnding)) return {};
    std::string name{file.substr(0, file.size() - kEnding.size())};
    std::ranges::replace(name, '-', '_');
    return name;
}

std::vector<std::string> needs_of(std::string_view module) {
    // The section is a row of texts that end with NUL; nothing else in a module looks like this one.
    constexpr std::string_view kMark{"\0depends=", 9};
    std::vector<std::string> needs;
    const std::size_t at = module.find(kMark);
    if (at == std::string_view::npos) return needs;
    std::string_view list = module.substr(at + kMark.size());
    list = list.substr(0, list.find('\0'));
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        needs.push_back(module_name(std::string{list.substr(0, comma)} + ".ko"));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return needs;
}

Result<std::vector<std::string>> load_order(const Modules& modules) {
    Order order{modules};
    for (const auto& [name, content] : modules) {
        if (!order.add(name)) return refuse(Errc::invalid_argument, "module " + name + " needs itself");
    }
    return std::move(order.order);
}

}  // namespace oyat::microvm
