#include "egress/dns_message.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress::dns {
namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out += static_cast<char>(value);
    return out;
}

const std::string kWww = bytes({3, 'w', 'w', 'w', 4, 't', 'e', 's', 't', 0});

// A question for www.test, type A.
std::string question(int extras = 0, const std::string& tail = "") {
    return bytes({0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, extras}) + kWww + bytes({0, 1, 0, 1}) + tail;
}

// A reply for www.test with `answers` in its answer section.
std::string reply(int count, const std::string& answers, int flags_low = 0x80) {
    return bytes({0x12, 0x34, 0x81, flags_low, 0, 1, 0, count, 0, 0, 0, 0}) + kWww + bytes({0, 1, 0, 1}) +
           answers;
}

TEST(DnsMessage, ReadsAQuestion) {
    const Query query = or_throw(parse_query(question()));
    EXPECT_EQ(query.id, 0x1234);
    EXPECT_TRUE(query.recursion_desired);
    EXPECT_EQ(to_text(query.question.name), "www.test");
    EXPECT_EQ(query.question.type, Type::a);
    EXPECT_FALSE(query.extended);
    EXPECT_EQ(query.payload_limit, 512);
}

TEST(DnsMessage, KnowsHowMuchTheClientCanTake) {
    const Query query = or_throw(parse_query(question(1, bytes({0, 0, 41, 0x04, 0x00, 0, 0, 0, 0, 0, 0}))));
    EXPECT_TRUE(query.extended);
    EXPECT_EQ(query.payload_limit, 1024);
}

TEST(DnsMessage, RefusesEveryCutQuestion) {
    const std::string whole = question(1, bytes({0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0}));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(parse_query(std::string_view{whole}.substr(0, size))) << size;
    }
}

TEST(DnsMessage, RefusesWhatIsNoSingleQuestion) {
    std::string two = question();
    two[5] = 2;
    EXPECT_FALSE(parse_query(two));
    std::string answer = question();
    answer[2] = static_cast<char>(0x81);
    EXPECT_FALSE(parse_query(answer));
    std::string with_answers = question();
    with_answers[7] = 1;
    EXPECT_FALSE(parse_query(with_answers));
}

TEST(DnsMessage, RefusesPointersThatGoForwardOrInCircles) {
    const auto with_name = [](const std::string& name) {
        return bytes({0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}) + name + bytes({0, 1, 0, 1});
    };
    EXPECT_FALSE(parse_query(with_name(bytes({0xC0, 12}))));          // itself
    EXPECT_FALSE(parse_query(with_name(bytes({0xC0, 14, 0}))));       // forward
    EXPECT_FALSE(parse_query(with_name(bytes({1, 'a', 0xC0, 12}))));  // a loop through itself
    EXPECT_FALSE(parse_query(with_name(bytes({0x40, 'a', 0}))));      // reserved label types
    EXPECT_FALSE(parse_query(with_name(bytes({0x80, 'a', 0}))));
}

TEST(DnsMessage, RefusesNamesThatAreTooLong) {
    std::string name;
    for (int i = 0; i < 4; ++i) name += bytes({63}) + std::string(63, 'a');
    name += '\0';  // 257 bytes
    EXPECT_FALSE(parse_query(bytes({0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}) + name + bytes({0, 1, 0, 1})));
}

TEST(DnsMessage, ReadsAnAliasAndItsAddress) {
    // www.test CNAME host.test; host.test A 192.0.2.7, with compression everywhere.
    const std::string answers =
        bytes({0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 7, 4, 'h', 'o', 's', 't', 0xC0, 16}) +
        bytes({0xC0, 38, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7});
    const Reply got = or_throw(parse_reply(reply(2, answers)));
    ASSERT_EQ(got.answers.size(), 2u);
    EXPECT_EQ(to_text(got.answers[0].data), "host.test");
    EXPECT_EQ(to_text(got.answers[1].name), "host.test");
    EXPECT_EQ(got.answers[1].data, bytes({192, 0, 2, 7}));
}

TEST(DnsMessage, RefusesRecordsWhoseLengthLies) {
    EXPECT_FALSE(parse_reply(reply(1, bytes({0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 5, 1, 2, 3, 4, 5}))));
    EXPECT_FALSE(parse_reply(reply(1, bytes({0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 1, 2}))));
    EXPECT_FALSE(parse_reply(reply(1, bytes({0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 3, 0xC0, 12, 9}))));
    EXPECT_FALSE(parse_reply(reply(3, "")));
}

TEST(DnsMessage, TakesACutReplyForWhatItIs) {
    std::string cut = reply(2, bytes({0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7}));
    cut[2] = static_cast<char>(0x83);
    const Reply got = or_throw(parse_reply(cut));
    EXPECT_TRUE(got.truncated);
}

TEST(DnsMessage, ACutReplyStillHasItsQuestion) {  // found by fuzzing: it passed as one for the empty name
    EXPECT_FALSE(parse_reply(bytes({0, 1, 0x83, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x84, 0})));
}

TEST(DnsMessage, WritesWhatItCanRead) {
    const Query query = or_throw(parse_query(question(1, bytes({0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0}))));
    const Answer answer{
        .records = {{.name = kWww, .type = Type::a, .ttl = 30, .data = bytes({192, 0, 2, 7})}}};
    const Reply got = or_throw(parse_reply(write_answer(query, answer, 512)));
    EXPECT_EQ(got.id, query.id);
    EXPECT_EQ(got.rcode, Rcode::ok);
    ASSERT_EQ(got.answers.size(), 1u);
    EXPECT_EQ(got.answers[0].ttl, 30u);
    EXPECT_EQ(got.answers[0].data, bytes({192, 0, 2, 7}));
}

TEST(DnsMessage, CutsAnAnswerThatDoesNotFit) {
    const Query query = or_throw(parse_query(question()));
    Answer answer;
    for (int i = 0; i < 100; ++i) answer.records.push_back({kWww, Type::a, 30, bytes({192, 0, 2, i})});
    const std::string written = write_answer(query, answer, 512);
    EXPECT_LE(written.size(), 512u);
    EXPECT_TRUE(or_throw(parse_reply(written)).truncated);
}

TEST(DnsMessage, SaysWhyOnlyToThoseWhoUnderstand) {
    const Answer blocked{.rcode = Rcode::no_such_name, .error = ExtendedError::blocked, .reason = "offline"};
    const std::string plain = write_answer(or_throw(parse_query(question())), blocked, 512);
    EXPECT_EQ(plain.size(), question().size());
    const Query extended = or_throw(parse_query(question(1, bytes({0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0}))));
    EXPECT_TRUE(write_answer(extended, blocked, 512).ends_with(bytes({0, 15, 0, 9, 0, 15}) + "offline"));
    const Answer lost{.rcode = Rcode::server_failure, .error = ExtendedError::network_error};
    EXPECT_TRUE(write_answer(extended, lost, 512).ends_with(bytes({0, 15, 0, 2, 0, 23})));
}

TEST(DnsMessage, ShowsNamesWithoutLettingThemSpeak) {
    EXPECT_EQ(to_text(bytes({3, 'A', '.', '\n', 2, 'b', '\\', 0})), "a\\046\\010.b\\092");
    EXPECT_EQ(to_text(bytes({0})), "");
}

TEST(DnsMessage, MixesTheCaseOfLettersAndNothingElse) {
    std::array<std::uint8_t, 32> bits;
    bits.fill(0xFF);
    WireName name = or_throw(to_wire("a-1_z.test"));
    mix_case(name, bits);
    EXPECT_EQ(name, or_throw(to_wire("A-1_Z.TEST")));
    bits.fill(0);
    mix_case(name, bits);
    EXPECT_EQ(name, or_throw(to_wire("a-1_z.test")));
}

TEST(DnsMessage, MakesNamesOfTextOnlyWhenTheyAreHostNames) {
    EXPECT_EQ(or_throw(to_wire("www.test")), kWww);
    EXPECT_EQ(or_throw(to_wire("www.test.")), kWww);
    for (const std::string& text : {std::string{"a..b"}, std::string{".a"}, std::string{"a b"},
                                    std::string(64, 'a'), std::string{"a.."}}) {
        EXPECT_FALSE(to_wire(text)) << text;
    }
}

}  // namespace
}  // namespace oyat::egress::dns
