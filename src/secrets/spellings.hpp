#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::secrets {

// Every form in which a placeholder may be on its way out: as it is, percent-encoded, in base64 at each of
// the three alignments, in hexadecimal, and in the letters of any case that names have. It is no more than a
// net for mistakes: what is encrypted or cut up passes, and is without value there.
class Spellings {
public:
    struct Item {
        std::string placeholder;
        std::string secret;
    };
    explicit Spellings(std::vector<Item> items);

    // The name of the secret whose placeholder is in the text, or "a former secret" for one of our own shape
    // that is dead.
    [[nodiscard]] std::optional<std::string> find(std::string_view text) const;
    // As find(), without regard to case and to dots: for names to be looked up.
    [[nodiscard]] std::optional<std::string> find_in_name(std::string_view name) const;
    // The longest spelling: how much of a chunk must be kept to find one that is cut in two.
    [[nodiscard]] std::size_t longest() const { return longest_; }

private:
    struct Form {
        std::string text;
        std::size_t item;
    };
    std::vector<Item> items_;
    std::vector<Form> forms_;
    std::vector<Form> lower_;  // for names
    std::size_t longest_ = 0;
};

}  // namespace oyat::secrets
