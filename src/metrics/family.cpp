#include "metrics/family.hpp"

#include <charconv>
#include <utility>

namespace oyat::metrics {
namespace {

constexpr std::size_t kMostValues = 128;

void append_escaped(std::string& out, std::string_view label_value) {
    for (const char c : label_value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
}

void append_number(std::string& out, double value) {
    char digits[64];
    const auto [end, failed] = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end);
}

}  // namespace

Family::Family(Kind kind, std::string name, std::string help, std::string label)
    : kind_{kind}, name_{std::move(name)}, help_{std::move(help)}, label_{std::move(label)} {
    if (label_.empty()) values_[""] = 0;  // there from the start, so that a rate of zero is seen as zero
}

double& Family::slot(std::string_view label_value) {
    const auto found = values_.find(label_value);
    if (found != values_.end()) return found->second;
    return values_[values_.size() < kMostValues ? std::string{label_value} : "other"];
}

void Family::append_to(std::string& text) const {
    text.append("# HELP ").append(name_).append(" ").append(help_).append("\n# TYPE ").append(name_);
    text.append(kind_ == Kind::counter ? " counter\n" : " gauge\n");
    for (const auto& [label_value, value] : values_) {
        text.append(name_);
        if (!label_.empty()) {
            text.append("{").append(label_).append("=\"");
            append_escaped(text, label_value);
            text.append("\"}");
        }
        text.append(" ");
        append_number(text, value);
        text.append("\n");
    }
}

}  // namespace oyat::metrics
