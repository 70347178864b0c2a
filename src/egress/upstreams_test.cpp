#include "egress/upstreams.hpp"

#include <gtest/gtest.h>

#include "egress/fake_resolver_for_tests.hpp"
#include "io/run.hpp"
#include "pki/authority.hpp"
#include "pki/pem.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using Transport = Resolver::Transport;

const dns::Question kQuestion{.name = or_throw(dns::to_wire("www.example.test")), .type = dns::Type::a};

std::vector<std::string> honest(const std::string& question) {
    return {reply_to(question)};
}

std::vector<std::string> silent(const std::string&) {
    return {};
}

// The capitals of the question are lost on the way. What comes before it stays: the number of the
// message may hold a byte that is a capital.
std::string in_small_letters(std::string message) {
    constexpr size_t kHeader = 12;
    for (char& c : std::span{message}.subspan(kHeader))
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return message;
}

UpstreamOptions asking(const FakeResolver& resolver, Transport transport, std::string name = "") {
    return {.resolvers = {{.address = resolver.address, .transport = transport, .name = std::move(name)}},
            .try_limit = Millis{300}};
}

// The result of one question: the address, or why there was none.
Task<std::string> outcome(Upstreams& upstreams) {
    try {
        const dns::Reply reply = co_await upstreams.ask(kQuestion);
        EXPECT_TRUE(dns::same_name(reply.question.name, kQuestion.name));
        co_return reply.answers.size() == 1 ? reply.answers[0].data : "no answer";
    } catch (const Error& error) {
        co_return error.message();
    }
}

const std::string kAddress{"\xC0\x00\x02\x07", 4};

using Body = Task<> (*)(FakeResolver&, Upstreams&);

void with_resolver(FakeResolver::Say by_datagram, FakeResolver::Say by_stream, Transport transport,
                   Body body) {
    run([](FakeResolver::Say datagram, FakeResolver::Say stream, Transport way, Body test) -> Task<> {
        const Executor executor = co_await boost::asio::this_coro::executor;
        FakeResolver resolver{executor, std::move(datagram), std::move(stream)};
        Upstreams upstreams{executor, asking(resolver, way)};
        co_await with_timeout(Millis{20'000}, "the test", test(resolver, upstreams));
        co_await resolver.close();
    }(std::move(by_datagram), std::move(by_stream), transport, body));
}

TEST(Upstreams, AskOverUdpAndNothingElseWhenThatIsEnough) {
    with_resolver(honest, silent, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      EXPECT_EQ(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.connections, 0);
                  });
}

TEST(Upstreams, AskAgainOverTcpForWhatWasCut) {
    const auto cut = [](const std::string& question) -> std::vector<std::string> {
        return {reply_to(question, {.records = "", .count = 0, .truncated = true})};
    };
    with_resolver(cut, honest, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      EXPECT_EQ(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.stream_questions, 1);
                  });
}

TEST(Upstreams, KeepAConnectionForTheNextQuestion) {
    with_resolver(silent, honest, Transport::stream,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.connections, 1);
                      EXPECT_EQ(resolver.datagrams, 0);
                  });
}

TEST(Upstreams, OpenANewConnectionWhenTheKeptOneWasClosed) {
    with_resolver(silent, honest, Transport::stream,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      resolver.hang_up();
                      for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.connections, 3);
                  });
}

TEST(Upstreams, TakeNoReplyToAnotherQuestion) {
    const auto forging = [](const std::string& question) -> std::vector<std::string> {
        std::string other_number = reply_to(question), other_name = reply_to(question),
                    other_type = reply_to(question);
        other_number[0] = static_cast<char>(other_number[0] ^ 1);
        other_name[13] = static_cast<char>(other_name[13] ^ 1);
        other_type[other_type.size() - kSomewhere.size() - 3] = 16;
        return {other_number, other_name, other_type, "", "not DNS at all"};
    };
    with_resolver(forging, honest, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      EXPECT_NE(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.datagrams, 2);
                      EXPECT_EQ(resolver.connections, 0);
                  });
}

TEST(Upstreams, TakeAReplyWhoseCapitalsAreLostOnlyOverAStream) {
    const auto rewriting = [](const std::string& question) -> std::vector<std::string> {
        return {
            in_small_letters(reply_to(question, {.records = record(dns::Type::a, {"\xC0\x00\x02\x63", 4})}))};
    };
    with_resolver(rewriting, honest, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      EXPECT_EQ(co_await outcome(upstreams), kAddress);
                      EXPECT_EQ(resolver.stream_questions, 1);
                  });
}

TEST(Upstreams, LeaveAResolverThatFloods) {
    const auto flood = [](const std::string&) { return std::vector<std::string>(100, "flood"); };
    with_resolver(flood, honest, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      EXPECT_EQ(co_await outcome(upstreams), "the resolver sent nothing that fits");
                      EXPECT_EQ(resolver.datagrams, 2);
                  });
}

TEST(Upstreams, TryTwiceAndNoLonger) {
    with_resolver(silent, silent, Transport::datagram,
                  [](FakeResolver& resolver, Upstreams& upstreams) -> Task<> {
                      const auto before = std::chrono::steady_clock::now();
                      EXPECT_NE((co_await outcome(upstreams)).find("not done within"), std::string::npos);
                      EXPECT_EQ(resolver.datagrams, 2);
                      EXPECT_LT(std::chrono::steady_clock::now() - before, Millis{5000});
                  });
}

TEST(Upstreams, AnEndlessOrCutMessageOnAStreamIsNoAnswer) {
    const auto short_of = [](const std::string& question) -> std::vector<std::string> {
        return {reply_to(question).substr(0, 20)};
    };
    with_resolver(silent, short_of, Transport::stream, [](FakeResolver&, Upstreams& upstreams) -> Task<> {
        EXPECT_EQ(co_await outcome(upstreams), "the resolver sent nothing that fits");
    });
    with_resolver(silent, silent, Transport::stream, [](FakeResolver&, Upstreams& upstreams) -> Task<> {
        EXPECT_NE((co_await outcome(upstreams)).find("not done within"), std::string::npos);
    });
}

// --- DNS over TLS -----------------------------------------------------------------------------------------

const pki::Authority& authority() {
    static const pki::Authority made = pki::Authority::make({.name = "resolvers"});
    return made;
}

Task<std::string> outcome_over_tls(std::string certified, std::string expected, std::string authorities) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    const pki::Leaf leaf = authority().issue({certified}, std::chrono::hours{1});
    http::TlsContext tls =
        http::TlsContext::server(pki::to_pem(leaf.certificate.get()), pki::to_pem(leaf.key.get()));
    FakeResolver resolver{executor, silent, honest, &tls};
    UpstreamOptions options = asking(resolver, Transport::tls, std::move(expected));
    options.authorities_pem = std::move(authorities);
    options.try_limit = Millis{5000};
    Upstreams upstreams{executor, std::move(options)};
    std::string result = co_await outcome(upstreams);
    if (result == kAddress) {
        EXPECT_EQ(co_await outcome(upstreams), kAddress);
        EXPECT_EQ(resolver.connections, 1) << "one handshake serves several questions";
    }
    co_await resolver.close();
    co_return result;
}

TEST(Upstreams, AskOverTlsAResolverThatProvesItsName) {
    const std::string authorities = authority().certificate_pem();
    EXPECT_EQ(run(outcome_over_tls("dns.example", "dns.example", authorities)), kAddress);
    EXPECT_EQ(run(outcome_over_tls("127.0.0.1", "127.0.0.1", authorities)), kAddress);
}

TEST(Upstreams, TellNothingToAResolverThatProvesAnotherName) {
    const std::string result =
        run(outcome_over_tls("evil.example", "dns.example", authority().certificate_pem()));
    EXPECT_NE(result.find("hostname mismatch"), std::string::npos) << result;
}

TEST(Upstreams, TellNothingToAResolverThatNobodyVouchesFor) {
    const std::string result = run(outcome_over_tls("dns.example", "dns.example", ""));
    EXPECT_NE(result.find("certificate is refused"), std::string::npos) << result;
}

}  // namespace
}  // namespace oyat::egress
