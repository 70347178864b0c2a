#include "masking/shipped.hpp"

#include <algorithm>
#include <string>

namespace oyat::masking {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string only(std::string_view text, bool (*wanted)(char)) {
    std::string out;
    std::ranges::copy_if(text, std::back_inserter(out), wanted);
    return out;
}

// ITU-T E.164: at most 15 digits.
bool is_phone(std::string_view found) {
    const auto digits = std::ranges::count_if(found, is_digit);
    return digits >= 8 && digits <= 15;
}

// ISO 13616: with the first four characters moved to the end and letters as 10 to 35, the number is 1 modulo
// 97 (ISO 7064).
bool is_iban(std::string_view found) {
    std::string text = only(found, [](char c) { return c != ' '; });
    if (text.size() < 15 || text.size() > 34) return false;
    std::ranges::rotate(text, text.begin() + 4);
    unsigned rest = 0;
    for (const char c : text) {
        rest = is_digit(c) ? (rest * 10 + static_cast<unsigned>(c - '0')) % 97
                           : (rest * 100 + static_cast<unsigned>(c - 'A') + 10) % 97;
    }
    return rest == 1;
}

// ISO/IEC 7812: 13 to 19 digits, the last one by Luhn's rule. Numbers of banks begin with 2 to 6, which keeps
// most of what happens to pass the rule out.
bool is_card(std::string_view found) {
    const std::string digits = only(found, is_digit);
    if (digits.size() < 13 || digits.size() > 19 || digits[0] < '2' || digits[0] > '6') return false;
    int sum = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const int digit = digits[digits.size() - 1 - i] - '0';
        const int twice = digit * 2;
        sum += i % 2 == 0 ? digit : (twice > 9 ? twice - 9 : twice);
    }
    return sum % 10 == 0;
}

}  // namespace

std::optional<Expression> shipped(std::string_view name) {
    if (name == "mail") {
        return Expression{"mail", R"([A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}\b)", nullptr, "@"};
    }
    if (name == "phone") {
        return Expression{"phone",
                          R"((?:\+|\b00)[1-9][0-9]{0,2}(?:[ ./-]?(?:\([0-9]{1,4}\)|[0-9]{1,5})){2,7}\b)",
                          is_phone};
    }
    if (name == "iban") {
        return Expression{"iban", R"(\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b)",
                          is_iban};
    }
    if (name == "card") return Expression{"card", R"(\b[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}\b)", is_card};
    return std::nullopt;
}

Expression api_keys() {
    return {"api-key", R"(\be2b_[0-9a-f]{40}\b)", nullptr, "e2b_"};
}

}  // namespace oyat::masking
