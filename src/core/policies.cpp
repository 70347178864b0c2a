#include "core/policies.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/throwing.hpp"

namespace oyat::core {
namespace {

using policy::DocumentPtr;
using policy::Layer;

constexpr std::array kKeptLayers{Layer::tenant, Layer::template_};

std::string kind_of(Layer layer) {
    return "policy." + std::string{to_string(layer)};
}

}  // namespace

Policies::Policies(Store& store, OperatorPolicy operators) : store_{store} {
    set_operator(std::move(operators));
}

Task<> Policies::load() {
    for (const Layer layer : kKeptLayers) {
        for (const StoredItem& item : co_await store_.load_items(kind_of(layer)))
            kept_[layer][item.key] = read_kept(item.body);
    }
}

void Policies::set_operator(OperatorPolicy operators) {
    operators_ = std::move(operators);
    ++revision_;
    if (!operators_.document) operators_.document = operators_.words->preset("public-web");
    // The words may mean something else now.
    living_.clear();
    for (auto& [layer, documents] : kept_) {
        for (auto& [key, document] : documents) document = read_kept(document->source);
    }
}

DocumentPtr Policies::known(const std::string& source) const {
    const auto found = living_.find(source);
    return found == living_.end() ? nullptr : found->second.lock();
}

DocumentPtr Policies::remember(policy::Document read) const {
    auto shared = std::make_shared<const policy::Document>(std::move(read));
    if (living_.size() >= tidy_at_) {
        std::erase_if(living_, [](const auto& each) { return each.second.expired(); });
        tidy_at_ = std::max<std::size_t>(64, 2 * living_.size());
    }
    living_[shared->source] = shared;
    return shared;
}

Result<DocumentPtr> Policies::read(boost::json::object document) const {
    if (DocumentPtr same = known(boost::json::serialize(document))) return same;
    Result<policy::Document> made = policy::document_from(std::move(document), *operators_.words);
    if (!made) return std::unexpected{std::move(made).error().in("policy")};
    return remember(*std::move(made));
}

DocumentPtr Policies::read_kept(const std::string& source) const {
    if (DocumentPtr same = known(source)) return same;
    Result<policy::Document> made = policy::document_from_json(source, *operators_.words);
    if (made) return remember(*std::move(made));
    log::error("a stored policy can be read no more; offline stands in its place",
               {{"why", made.error().message()}});
    // Its own text stays, so that it comes back with the words that it misses.
    policy::Document closed = *operators_.words->preset("offline");
    closed.source = source;
    return std::make_shared<const policy::Document>(std::move(closed));
}

DocumentPtr Policies::above(Layer layer, const std::string& key) const {
    if (layer == Layer::server) return operators_.document;
    const auto documents = kept_.find(layer);
    if (documents == kept_.end()) return nullptr;
    const auto found = documents->second.find(key);
    return found == documents->second.end() ? nullptr : found->second;
}

Task<> Policies::keep(Layer layer, std::string key, DocumentPtr document) {
    if (document) {
        co_await store_.save_item(kind_of(layer), key, document->source);
        kept_[layer][key] = std::move(document);
    } else {
        co_await store_.forget_item(kind_of(layer), key);
        kept_[layer].erase(key);
    }
    ++revision_;
}

std::vector<policy::LayerDocument> Policies::layers_for(const SandboxRecord& record, DocumentPtr own) const {
    std::vector<policy::LayerDocument> layers;
    const auto add = [&layers](Layer layer, DocumentPtr document) {
        if (document) layers.push_back({layer, std::move(document)});
    };
    add(Layer::server, operators_.document);
    add(Layer::tenant, above(Layer::tenant, record.tenant));
    add(Layer::template_, above(Layer::template_, record.template_digest));
    add(Layer::sandbox, std::move(own));
    return layers;
}

std::string digest_of(const DocumentPtr& document) {
    return document ? "sha256:" + sha256_hex(document->source) : std::string{};
}

}  // namespace oyat::core
