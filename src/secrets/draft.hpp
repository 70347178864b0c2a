#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "secrets/broker.hpp"

namespace oyat::secrets {

// A request while true values are being put into it. Each step returns false when the request must not go
// out; the result then says why.
class Draft {
public:
    Draft(const RequestView& request, const Values& values,
          std::function<std::string(const Grant&)> unusable);

    // Sets the fields of which the sandbox holds nothing.
    [[nodiscard]] bool inject(const std::vector<const Grant*>& here);
    // Replaces placeholders in the places that their bindings name.
    [[nodiscard]] bool substitute(const std::vector<const Grant*>& here);
    // Takes out a signature made with a placeholder and signs with the true key.
    [[nodiscard]] bool sign(const std::vector<const Grant*>& here);
    // Whatever placeholder is still in it was on its way to where it may not go.
    [[nodiscard]] bool keep_in(const Spellings& spellings);

    // Lets it go; returns the ids of the bindings that were used.
    [[nodiscard]] std::vector<std::string> allow();
    [[nodiscard]] Prepared result() &&;

private:
    [[nodiscard]] bool refuse(const std::string& secret, const std::string& place, std::string reason);
    [[nodiscard]] bool leak(const std::string& secret, const std::string& place);
    // The value, ready for its place; nothing when the request was refused.
    [[nodiscard]] std::optional<SecretValue> take(const Grant& grant, const std::string& place);
    [[nodiscard]] std::optional<std::string> compose(const Grant& grant, const std::string& place);
    void used(const Grant& grant, const std::string& secret, const std::string& place);

    [[nodiscard]] bool in_fields(const Grant& grant);
    [[nodiscard]] bool in_basic(const Grant& grant);
    [[nodiscard]] bool in_query(const Grant& grant);
    [[nodiscard]] bool in_body(const Grant& grant);

    const RequestView& request_;
    const Values& values_;
    std::function<std::string(const Grant&)> unusable_;
    Prepared made_;
    std::vector<std::string> used_;
};

// Whether the type of the body is one in which a member can be replaced: JSON or a form, not compressed.
[[nodiscard]] bool is_rewritable_body(const http::Fields& fields);

}  // namespace oyat::secrets
