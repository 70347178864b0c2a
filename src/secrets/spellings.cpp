#include "secrets/spellings.hpp"

#include <algorithm>

#include "secrets/base64.hpp"
#include "secrets/placeholder.hpp"

namespace oyat::secrets {
namespace {

constexpr const char* kDead = "a former secret";
constexpr std::size_t kOwnLength = 30;

std::string lower(std::string_view text) {
    std::string made{text};
    for (char& c : made) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return made;
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string made;
    for (const char c : bytes) {
        made += kDigits[static_cast<unsigned char>(c) >> 4];
        made += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return made;
}

// The part of the base64 of "...placeholder..." that does not depend on what stands around it, when `before`
// bytes of its first group of three are somebody else's.
std::string base64_inside(std::string_view placeholder, std::size_t before, Base64 alphabet) {
    const std::string text = base64(std::string(before, '\0') + std::string{placeholder}, alphabet);
    const std::size_t first = (before * 8 + 5) / 6;
    const std::size_t end = (before + placeholder.size()) * 8 / 6;
    return text.substr(first, end - first);
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Whatever is well-formed of it, decoded; the rest as it stands.
std::string percent_decoded(std::string_view text) {
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                            hex_digit(text[i + 2]) >= 0;
        if (!escape) {
            made += text[i];
            continue;
        }
        made += static_cast<char>(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]));
        i += 2;
    }
    return made;
}

}  // namespace

Spellings::Spellings(std::vector<Item> items) : items_{std::move(items)} {
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::string& placeholder = items_[i].placeholder;
        forms_.push_back({placeholder, i});
        for (const Base64 alphabet : {Base64::standard, Base64::url}) {
            for (const std::size_t before : {0, 1, 2}) {
                forms_.push_back({base64_inside(placeholder, before, alphabet), i});
                lower_.push_back({lower(forms_.back().text), i});
            }
        }
        forms_.push_back({hex(placeholder), i});
        lower_.push_back({lower(placeholder), i});
        lower_.push_back({hex(placeholder), i});
        longest_ = std::max(longest_, 2 * placeholder.size());
    }
    longest_ = std::max(longest_, kOwnLength);
}

std::optional<std::string> Spellings::find(std::string_view text) const {
    const auto look = [this](std::string_view in) -> std::optional<std::string> {
        for (const Form& form : forms_) {
            if (in.find(form.text) != std::string_view::npos) return items_[form.item].secret;
        }
        if (has_own_shape(in)) return kDead;
        return std::nullopt;
    };
    if (auto found = look(text)) return found;
    if (text.find('%') == std::string_view::npos) return std::nullopt;
    return look(percent_decoded(text));
}

std::optional<std::string> Spellings::find_in_name(std::string_view name) const {
    std::string plain = lower(name);
    std::erase(plain, '.');
    for (const Form& form : lower_) {
        std::string wanted = form.text;
        std::erase(wanted, '.');
        if (plain.find(wanted) != std::string::npos) return items_[form.item].secret;
    }
    // One of our own shape lost its capitals on the way.
    if (plain.find("oyat_ph_") != std::string::npos) return kDead;
    return std::nullopt;
}

}  // namespace oyat::secrets
