#include "policy/install_window.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/assert.hpp"

namespace oyat::policy {
namespace {

constexpr std::string_view kCategory = "package-registries";

bool wants(const LayerDocument& layer) {
    return layer.document->install_window;
}

}  // namespace

std::optional<LayerDocument> install_window(std::span<const LayerDocument> layers, const Vocabulary& words) {
    const auto first = std::ranges::find_if(layers, wants);
    if (first == layers.end()) return std::nullopt;
    const DocumentPtr packages = words.preset("packages-only");
    OYAT_ASSERT(packages != nullptr);
    auto made = std::make_shared<Document>(*packages);
    for (auto layer = layers.begin(); layer != layers.end() && layer->layer <= first->layer; ++layer) {
        std::ranges::copy_if(layer->document->rules, std::back_inserter(made->rules), [](const Rule& rule) {
            return rule.category == kCategory && rule.action <= Action::observe;
        });
    }
    made->rules.push_back(Rule{
        .id = std::string{kInstallWindowRule}, .category = std::string{kCategory}, .action = Action::deny});
    return LayerDocument{.layer = first->layer, .document = std::move(made)};
}

}  // namespace oyat::policy
