#pragma once

#include <string>
#include <vector>

#include "core/keeper.hpp"
#include "core/principal.hpp"

namespace oyat::core {

// Names and digests of the templates on this machine. A name is resolved to a digest once, and the digest
// recorded.
class Templates {
public:
    explicit Templates(Keeper& keeper) : keeper_{keeper} {}

    Task<> refresh();  // asks the keeper; called at start, after an import, and when a name is unknown
    [[nodiscard]] Task<TemplateFacts> resolve(std::string reference);  // throws not_found
    [[nodiscard]] bool knows(const std::string& reference) const;      // without asking
    [[nodiscard]] const std::vector<TemplateFacts>& known() const { return known_; }

private:
    Keeper& keeper_;
    std::vector<TemplateFacts> known_;
};

}  // namespace oyat::core
