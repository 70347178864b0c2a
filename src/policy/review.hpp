#pragma once

#include <string>
#include <vector>

#include "policy/document.hpp"

namespace oyat::policy {

// The private addresses of this machine's surroundings, and those of them that the operator opened.
struct Ground {
    std::vector<Cidr> closed, opened;
};

// Something in a good document that its author may not have meant.
struct Remark {
    std::string rule;  // id; "" when it is about the whole
    std::string sentence;
};

// Rules that can never match, and rules that do less than they seem to.
[[nodiscard]] std::vector<Remark> review(const Document& document, const Ground& ground, WallTime now);

}  // namespace oyat::policy
