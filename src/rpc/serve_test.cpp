#include "rpc/serve.hpp"

#include <gtest/gtest.h>

#include "io/gate.hpp"
#include "io/loop.hpp"
#include "io/timer.hpp"
#include "rpc/code.hpp"
#include "rpc/fake_exchange.hpp"

namespace oyat::rpc {
namespace {

using namespace std::string_literals;
using namespace std::chrono_literals;

class FakeBackend final : public Backend {
public:
    bool up = true;
    Gate gone;
    [[nodiscard]] bool alive() const override { return up; }
    Task<> until_gone() override { return gone.pass(); }
};

std::string framed(std::uint8_t flags, std::string_view payload) {
    std::string out;
    append_envelope(out, flags, payload);
    return out;
}

class Serve : public testing::Test {
protected:
    Serve() { exchange.head.method = "POST"; }

    Served unary(std::string body, UnaryHandler handler) {
        exchange.head.fields.set("Content-Type", "application/json");
        exchange.body = std::move(body);
        std::optional<Served> served;
        loop.run(store_in(served, serve_unary(exchange, backend, std::move(handler))));
        return *served;
    }
    Served stream(StreamHandler handler) {
        exchange.head.fields.set("Content-Type", "application/connect+json");
        exchange.body = framed(0, "{}");
        std::optional<Served> served;
        loop.run(store_in(served, serve_stream(exchange, backend, "{\"k\":1}", std::move(handler))));
        return *served;
    }

    Loop loop;
    FakeExchange exchange{loop.executor()};
    FakeBackend backend;
};

Task<std::string> echo_name(const Message& message, const CallOptions&) {
    co_return "{\"name\":\"" + message.string("name") + "\"}";
}

TEST_F(Serve, AUnaryCallAnswersItsReply) {
    EXPECT_EQ(unary(R"({"name":"x"})", echo_name), Served::answered);
    EXPECT_EQ(exchange.status, 200);
    EXPECT_EQ(exchange.answer, R"({"name":"x"})");
}

TEST_F(Serve, AUnaryErrorHasItsCodesStatusAndWhoseFaultItWas) {
    unary("{}", [](const Message&, const CallOptions&) -> Task<std::string> {
        throw Error{Errc::not_found, "no such file"};
    });
    EXPECT_EQ(exchange.status, 404);
    EXPECT_EQ(exchange.answer, R"({"code":"not_found","message":"no such file","fault":"client"})");
}

TEST_F(Serve, ACodedErrorKeepsItsCode) {
    unary("{}", [](const Message&, const CallOptions&) -> Task<std::string> {
        throw CodedError{Code::unauthenticated, {Errc::failed_precondition, "no such user"}};
    });
    EXPECT_EQ(exchange.status, 401);
}

TEST_F(Serve, OtherMethodsAreRefused) {
    exchange.head.method = "GET";
    unary("{}", echo_name);
    EXPECT_EQ(exchange.status, 405);
}

TEST_F(Serve, OtherTypesOfBodyAreRefused) {
    exchange.head.fields.set("Content-Type", "application/proto");
    std::optional<Served> served;
    loop.run(store_in(served, serve_unary(exchange, backend, echo_name)));
    EXPECT_EQ(exchange.status, 415);
}

TEST_F(Serve, AUnaryCallEndsAtItsDeadline) {
    exchange.head.fields.set("Connect-Timeout-Ms", "5");
    unary("{}", [](const Message&, const CallOptions&) -> Task<std::string> {
        Gate never;
        co_await never.pass();
        co_return "";
    });
    EXPECT_EQ(exchange.status, 504);
    EXPECT_NE(exchange.answer.find("context deadline exceeded"), std::string::npos);
}

TEST_F(Serve, ABrokenHeaderOfACallIsAnError) {
    for (const char* text : {"x", "-1", "1.5", "12345678901"}) {
        exchange.head.fields.set("Connect-Timeout-Ms", text);
        unary("{}", echo_name);
        EXPECT_EQ(exchange.status, 400) << text;
    }
}

TEST_F(Serve, AnUnavailableBackendIsGoneOnlyIfItIs) {
    const UnaryHandler broken = [](const Message&, const CallOptions&) -> Task<std::string> {
        throw Error{Errc::unavailable, "channel broke"};
    };
    EXPECT_EQ(unary("{}", broken), Served::answered);
    EXPECT_EQ(exchange.status, 500);
    backend.up = false;
    EXPECT_EQ(unary("{}", broken), Served::backend_gone);
}

TEST_F(Serve, AStreamIsItsMessagesAndOneEnd) {
    stream([](const Message&, const CallOptions&, ServerStream& out) -> Task<> {
        out.add([](std::string& json) { json += "{\"a\":1}"; });
        co_await out.flush();
        out.add([](std::string& json) { json += "{\"a\":2}"; });
    });
    EXPECT_EQ(exchange.answer, framed(0, "{\"a\":1}") + framed(0, "{\"a\":2}") + framed(2, "{}"));
    EXPECT_TRUE(exchange.finished);
}

TEST_F(Serve, AStreamThatFailsBeforeItsFirstMessageStillAnswers200) {
    stream([](const Message&, const CallOptions&, ServerStream&) -> Task<> {
        throw Error{Errc::not_found, "process with pid 7 not found"};
    });
    EXPECT_EQ(exchange.status, 200);
    EXPECT_EQ(
        exchange.answer,
        framed(
            2,
            R"({"error":{"code":"not_found","message":"process with pid 7 not found","fault":"client"}})"));
}

TEST_F(Serve, AStreamWhoseBackendEndsIsNotEnded) {
    const Served served = stream([this](const Message&, const CallOptions&, ServerStream& out) -> Task<> {
        out.add([](std::string& json) { json += "{}"; });
        co_await out.flush();
        backend.up = false;
        backend.gone.open();
        Gate never;
        co_await never.pass();
    });
    EXPECT_EQ(served, Served::backend_gone);
    EXPECT_EQ(exchange.answer, framed(0, "{}"));
    EXPECT_FALSE(exchange.finished);
}

TEST_F(Serve, AClientThatLeftCancelsTheWork) {
    bool canceled = false;
    stream([&](const Message&, const CallOptions&, ServerStream&) -> Task<> {
        exchange.client_left.open();
        Gate never;
        try {
            co_await never.pass();
        } catch (const Error& error) {
            canceled = error.code() == Errc::canceled;
            throw;
        }
    });
    EXPECT_TRUE(canceled);
    EXPECT_TRUE(exchange.aborted);
}

TEST_F(Serve, AStreamEndsAtItsDeadlineAlsoBeforeASlowClient) {
    exchange.head.fields.set("Connect-Timeout-Ms", "5");
    stream([](const Message&, const CallOptions&, ServerStream& out) -> Task<> {
        out.add([](std::string& json) { json += "{}"; });
        co_await out.flush();
        Gate never;
        co_await never.pass();
    });
    EXPECT_NE(exchange.answer.find("deadline_exceeded"), std::string::npos);
}

TEST_F(Serve, KeepalivesGoIntoSilenceOnceAStreamHasBegun) {
    ServerStream out{exchange, "{\"k\":1}"};
    EXPECT_THROW(loop.run(out.keep_alive(1ms, 5ms)), Error);
    EXPECT_EQ(exchange.answer, "");

    out.add([](std::string& json) { json += "{}"; });
    loop.run(out.flush());
    EXPECT_THROW(loop.run(out.keep_alive(1ms, 5ms)), Error);
    EXPECT_TRUE(exchange.answer.starts_with(framed(0, "{}") + framed(0, "{\"k\":1}"))) << exchange.answer;
}

TEST_F(Serve, MoreOrLessThanOneMessageIsRefused) {
    exchange.head.fields.set("Content-Type", "application/connect+json");
    const StreamHandler nothing = [](const Message&, const CallOptions&, ServerStream&) -> Task<> {
        co_return;
    };
    for (const std::string& body : {""s, framed(0, "{}") + framed(0, "{}"), framed(0, "[]"),
                                    framed(0, "{}") + "\0"s, "\0\0\0\0\x09{}"s, "{}"s}) {
        exchange.~FakeExchange();
        new (&exchange) FakeExchange{loop.executor()};
        exchange.head.method = "POST";
        exchange.head.fields.set("Content-Type", "application/connect+json");
        exchange.body = body;
        std::optional<Served> served;
        loop.run(store_in(served, serve_stream(exchange, backend, "{}", nothing)));
        EXPECT_NE(exchange.answer.find("\"error\""), std::string::npos) << body.size();
    }
}

TEST_F(Serve, AnInputStreamGivesItsMessagesOneByOne) {
    exchange.head.fields.set("Content-Type", "application/connect+json");
    exchange.body = framed(0, R"({"n":"1"})") + framed(0, R"({"n":"2"})");
    std::optional<Served> served;
    loop.run(
        store_in(served, serve_input_stream(exchange, backend, [](RequestStream& in) -> Task<std::string> {
                     std::string seen;
                     while (auto object = co_await in.next()) seen += Message{*object}.string("n");
                     co_return "{\"seen\":\"" + seen + "\"}";
                 })));
    EXPECT_EQ(exchange.answer, framed(0, R"({"seen":"12"})") + framed(2, "{}"));
}

}  // namespace
}  // namespace oyat::rpc
