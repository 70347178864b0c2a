#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "masking/cover.hpp"

namespace re2 {
class RE2;
}

namespace oyat::masking {

// What an operator wants hidden that no vault knows: a form, such as that of a customer's number.
struct Expression {
    std::string name;
    std::string pattern;  // RE2's syntax: no construct in it takes more than linear time
    // Whether what has the form is one: check digits. Null: the form says it all.
    bool (*check)(std::string_view found) = nullptr;
    std::string_view needs;  // stands in every find, so that a text without it is not searched
};

// Searches texts for all of them. Immutable.
class Expressions {
public:
    // invalid_argument, with the name of the bad one: a bad pattern, one that matches nothing at all, one too
    // big, a bad or repeated name.
    [[nodiscard]] static Result<std::shared_ptr<const Expressions>> compile(
        const std::vector<Expression>& expressions);
    ~Expressions();

    // Adds what is found from `start` on, with places counted from there; what stands before tells whether a
    // word begins at the start.
    void search(std::string_view text, std::size_t start, Cover& cover) const;

private:
    struct Compiled;
    Expressions();

    std::vector<Compiled> all_;
};

}  // namespace oyat::masking
