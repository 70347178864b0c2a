#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rule.hpp"

namespace oyat::policy {

class Vocabulary;

// What one layer says about the way out: rules in their order, the first that matches decides; else
// `fallback`.
struct Document {
    static constexpr std::size_t kMaxRules = 512;
    static constexpr std::size_t kMaxBytes = 64 * 1024;
    // Together over all rules, sets counted by what they stand for.
    static constexpr std::size_t kMaxPaths = 1024, kMaxHosts = 8192;

    std::string preset;       // whose rules follow the own ones, as written; "" or "custom": none
    std::vector<Rule> rules;  // own, then the preset's
    Action fallback = Action::deny;
    std::vector<HostPattern> bypass;  // hosts that are never intercepted
    // While a command installs packages, its sandbox reaches package registries only, and without secrets.
    bool install_window = false;

    // The whole document as JSON in the form in which it was written (checked, presets and sets unexpanded).
    std::string source;
};

using DocumentPtr = std::shared_ptr<const Document>;

// A document from its text. Refused with one sentence that names line, column and field: a field nobody
// knows, a value of a wrong kind, a document that says nothing, one that is too large. Pure.
[[nodiscard]] Result<Document> document_from_json(std::string_view text, const Vocabulary& words);
[[nodiscard]] Result<Document> document_from_toml(std::string_view text, const Vocabulary& words);
// From a table within another file, of which only the fields of a document are read: [egress] of oyat.toml.
// Nothing when none of them is there.
[[nodiscard]] Result<DocumentPtr> document_from_section(std::string_view toml, std::string_view table,
                                                        const Vocabulary& words);
// From values that have no text: made by a program. Mistakes are named by their field alone.
[[nodiscard]] Result<Document> document_from(boost::json::object values, const Vocabulary& words);

// What it was written as: document_from(to_json(d)) is d again.
[[nodiscard]] boost::json::object to_json(const Document& document);

// The fields that a document may have.
[[nodiscard]] bool is_document_field(std::string_view name);

}  // namespace oyat::policy
