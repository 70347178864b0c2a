#include "masking/line_masker.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/throwing.hpp"
#include "masking/output_masker.hpp"
#include "masking/shipped.hpp"

namespace oyat::masking {
namespace {

std::shared_ptr<const Expressions> forms(std::vector<Expression> expressions) {
    return or_throw(Expressions::compile(expressions));
}

std::shared_ptr<const Expressions> shipped_form(std::string_view name) {
    return forms({*shipped(name)});
}

std::string hide(const std::shared_ptr<const Expressions>& forms, std::string_view text) {
    Tally tally;
    return Hidden{.values = nullptr, .forms = forms}.in(text, tally);
}

TEST(Shipped, MailIsAnAddressAndNotAnyAt) {
    const auto mail = shipped_form("mail");
    EXPECT_EQ(hide(mail, "from a.b+c@mail.example.org, to <x@y.de>."),
              "from [masked:mail], to <[masked:mail]>.");
    for (const char* text : {"git@host", "@decorator", "npm i left-pad@1.3.0", "a@b.c1"}) {
        EXPECT_EQ(hide(mail, text), text);
    }
}

TEST(Shipped, PhoneIsANumberInInternationalForm) {
    const auto phone = shipped_form("phone");
    for (const char* text : {"+49 30 901820", "+1-202-555-0143", "+442071838750", "0049 (30) 90 18 20"}) {
        EXPECT_EQ(hide(phone, std::string{"call "} + text + " now"), "call [masked:phone] now") << text;
    }
    for (const char* text : {"+1 2 3", "2024-01-02 10:11:12", "1+2000", "+12345678901234567890"}) {
        EXPECT_EQ(hide(phone, text), text);
    }
}

TEST(Shipped, IbanPassesItsCheckDigits) {
    const auto iban = shipped_form("iban");
    for (const char* text :
         {"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819",
          "NO9386011117947", "MT84MALT011000012345MTLCAST001S"}) {
        EXPECT_EQ(hide(iban, std::string{"to "} + text + " EUR 12"), "to [masked:iban] EUR 12") << text;
    }
    EXPECT_EQ(hide(iban, "DE88370400440532013000"), "DE88370400440532013000");
    EXPECT_EQ(hide(iban, "XDE89370400440532013000"), "XDE89370400440532013000");
}

TEST(Shipped, CardPassesLuhnsRule) {
    const auto card = shipped_form("card");
    for (const char* text : {"4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004",
                             "3782 822463 10005", "6011000990139424"}) {
        EXPECT_EQ(hide(card, std::string{"no "} + text + " 12/27"), "no [masked:card] 12/27") << text;
    }
    EXPECT_EQ(hide(card, "2200 12 4111 1111 1111 1111"), "2200 12 [masked:card]");
    for (const char* text : {"4111111111111112", "41111111111111111111111", "1234567812345670"}) {
        EXPECT_EQ(hide(card, text), text);
    }
}

TEST(Shipped, KeysOfTheServerHaveTheirForm) {
    const std::string key = "e2b_0123456789abcdef0123456789abcdef01234567";
    EXPECT_EQ(hide(forms({api_keys()}), "X-API-Key: " + key), "X-API-Key: [masked:api-key]");
}

TEST(Expressions, RefuseWhatTheyCouldNotKeepAndNameIt) {
    const std::vector<std::vector<Expression>> bad{
        {{"open", "(["}},
        {{"empty", "a*"}},
        {{"Name", "abc"}},
        {{"", "abc"}},
        {{"back", "(a)\\1"}},
        {{"twice", "a"}, {"twice", "b"}},
        {{"big", "(?:a{1,1000}){1,1000}"}},
        {{"long", std::string(1025, 'a')}},
    };
    for (const auto& each : bad) {
        const auto made = Expressions::compile(each);
        ASSERT_FALSE(made) << each.front().name;
        EXPECT_NE(made.error().message().find("'" + each.front().name + "'"), std::string::npos);
    }
}

TEST(LineMasker, GivesTheSameForEveryPlaceOfACut) {
    const auto both = forms({{"ticket", "\\bT-[0-9]{4,}\\b"}, *shipped("mail")});
    const std::string text = "T-1234 xT-5678\nT-99 T-123456 a@b.example\nT-0000";
    const std::string expected =
        "[masked:ticket] xT-5678\nT-99 [masked:ticket] [masked:mail]\n[masked:ticket]";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        LineMasker masker{both};
        std::string out;
        masker.feed(std::string_view{text}.substr(0, cut), out);
        masker.feed(std::string_view{text}.substr(cut), out);
        masker.release(out);
        EXPECT_EQ(out, expected) << cut;
    }
}

TEST(LineMasker, FindsWhatLiesAcrossThePartsOfAnEndlessLine) {
    const auto ticket = forms({{"ticket", "\\bT-[0-9]{4,}\\b"}});
    for (const std::size_t before : {7'920u, 7'935u, 7'936u, 7'937u, 8'190u, 8'192u, 16'200u}) {
        std::string text = std::string(before, '.') + "T-123456" + std::string(20'000, '.');
        const std::string expected = std::string(before, '.') + "[masked:ticket]" + std::string(20'000, '.');
        EXPECT_EQ(hide(ticket, text), expected) << before;
        LineMasker masker{ticket};
        std::string out;
        for (std::size_t at = 0; at < text.size(); at += 777) masker.feed(text.substr(at, 777), out);
        masker.release(out);
        EXPECT_EQ(out, expected) << before;
        EXPECT_EQ(hide(ticket, std::string(before, 'x') + "T-123456"), std::string(before, 'x') + "T-123456");
    }
}

TEST(LineMasker, KnowsAfterAReleaseWhatStoodBefore) {
    LineMasker masker{forms({{"ticket", "\\bT-[0-9]{4}\\b"}})};
    std::string out;
    masker.feed("name? x", out);
    EXPECT_TRUE(masker.holds());
    masker.release(out);
    EXPECT_EQ(out, "name? x");
    EXPECT_FALSE(masker.holds());
    masker.feed("T-1234 T-1234\n", out);
    EXPECT_EQ(out, "name? xT-1234 [masked:ticket]\n");
}

TEST(OutputMasker, LooksForValuesBeforeForms) {
    const Hidden hidden{.values = Patterns::of({{"login", "me@mail.example:pass"}}),
                        .forms = shipped_form("mail")};
    Tally tally;
    EXPECT_EQ(hidden.in("me@mail.example:pass and you@mail.example", tally),
              "[masked:login] and [masked:mail]");
    EXPECT_EQ(tally.count, 2u);
}

TEST(OutputMasker, OfNothingPassesAllOnAtOnce) {
    OutputMasker masker{Hidden{}};
    std::string out;
    masker.feed("bytes", out);
    EXPECT_EQ(out, "bytes");
    EXPECT_FALSE(masker.holds_little());
}

}  // namespace
}  // namespace oyat::masking
