#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/egress_control.hpp"
#include "core/sandbox_record.hpp"
#include "core/store.hpp"
#include "policy/review.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::core {

// The operator's part, read from the configuration: the upmost layer, and what all documents are read with.
struct OperatorPolicy {
    policy::DocumentPtr document;  // null: the preset public-web
    std::shared_ptr<const policy::Vocabulary> words = std::make_shared<const policy::Vocabulary>();
    policy::Ground ground;
};

// What a change of a document came to.
struct PolicyChange {
    std::uint64_t generation = 0;  // of the sandbox; 0 when it was a document above several
    std::size_t cut = 0;           // connections that the new one refuses
};

// The documents above sandboxes: the operator's, each tenant's, each template's. Those of tenants and
// templates are kept in the store. A sandbox's own stands in its record.
class Policies {
public:
    explicit Policies(Store& store, OperatorPolicy operators = {});

    // Once, before the first sandbox is joined. A stored document that can be read no more becomes `offline`:
    // the way out must not be wider than somebody once said.
    Task<> load();
    void set_operator(OperatorPolicy operators);
    [[nodiscard]] const OperatorPolicy& of_operator() const { return operators_; }

    // Grows with each change of any document here.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    // Refused with a sentence.
    [[nodiscard]] Result<policy::DocumentPtr> read(boost::json::object document) const;
    // The same for a document that was accepted before: what can be read no more becomes `offline`.
    [[nodiscard]] policy::DocumentPtr read_kept(const std::string& source) const;

    // Null when there is none. `key`: the tenant's name, the template's digest.
    [[nodiscard]] policy::DocumentPtr above(policy::Layer layer, const std::string& key) const;
    // Committed when it returns; null takes it away.
    Task<> keep(policy::Layer layer, std::string key, policy::DocumentPtr document);

    // All layers for one sandbox, its own document (null: none) the lowest.
    [[nodiscard]] std::vector<policy::LayerDocument> layers_for(const SandboxRecord& record,
                                                                policy::DocumentPtr own) const;

private:
    using Documents = std::map<std::string, policy::DocumentPtr, std::less<>>;
    [[nodiscard]] policy::DocumentPtr known(const std::string& source) const;
    [[nodiscard]] policy::DocumentPtr remember(policy::Document read) const;

    Store& store_;
    OperatorPolicy operators_;
    std::uint64_t revision_ = 0;
    std::map<policy::Layer, Documents> kept_;
    // Documents that live somewhere, by their source: a thousand sandboxes with one document hold it once.
    mutable std::unordered_map<std::string, std::weak_ptr<const policy::Document>> living_;
    mutable std::size_t tidy_at_ = 64;  // entries
};

// SHA-256 of a document as it was written, for the record; "" for none.
[[nodiscard]] std::string digest_of(const policy::DocumentPtr& document);

}  // namespace oyat::core
