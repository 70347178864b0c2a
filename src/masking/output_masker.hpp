#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "masking/line_masker.hpp"
#include "masking/stream_masker.hpp"

namespace oyat::masking {

// What one plane hides: values, forms, both or (both null) nothing. Shared by all its streams.
struct Hidden {
    std::shared_ptr<const Patterns> values;
    std::shared_ptr<const Expressions> forms;

    [[nodiscard]] bool nothing() const { return !values && !forms; }
    [[nodiscard]] std::string in(std::string_view text, Tally& tally) const;
};

// One stream through both maskers: values first, as a form could tear one apart.
class OutputMasker {
public:
    explicit OutputMasker(const Hidden& hidden);

    void feed(std::string_view bytes, std::string& out);
    // Something is held back that may be released after 20 ms.
    [[nodiscard]] bool holds_little() const;
    void release(std::string& out);
    void finish(std::string& out);
    // Values came or went. Forms stay what they were.
    void use(const Hidden& hidden);
    [[nodiscard]] Tally tally() const;

private:
    template <class Step>
    void through_values(Step step, std::string& out);

    std::optional<StreamMasker> values_;
    std::optional<LineMasker> forms_;
};

}  // namespace oyat::masking
