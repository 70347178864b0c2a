#pragma once

#include <algorithm>
#include <string>

#include "http/exchange.hpp"
#include "io/gate.hpp"

namespace oyat::rpc {

// For tests: one request, and what was answered.
class FakeExchange final : public http::Exchange {
public:
    http::RequestHead head;
    std::string body;
    std::size_t piece = 7;  // how much of the body one read gives
    Gate client_left;
    Gate may_write;  // shut: the client does not read

    int status = 0;
    http::Fields answer_fields;
    std::string answer;
    bool finished = false;
    bool aborted = false;

    explicit FakeExchange(Executor executor) : executor_{std::move(executor)} { may_write.open(); }

    [[nodiscard]] const http::RequestHead& request() const override { return head; }
    [[nodiscard]] Executor executor() const override { return executor_; }
    Task<std::size_t> read_body(std::span<char> into) override {
        const std::size_t size = std::min({into.size(), piece, body.size() - taken_});
        std::copy_n(body.data() + taken_, size, into.data());
        taken_ += size;
        co_return size;
    }
    Task<std::string> read_whole_body(std::size_t limit) override {
        if (body.size() > limit) throw Error{Errc::invalid_argument, "too long"};
        co_return body;
    }
    void allow_silence(Millis) override {}
    Task<> respond(int code, http::Fields fields, std::string text) override {
        status = code;
        answer_fields = std::move(fields);
        answer = std::move(text);
        started_ = finished = true;
        co_return;
    }
    Task<> start(int code, http::Fields fields, std::optional<std::uint64_t>) override {
        status = code;
        answer_fields = std::move(fields);
        started_ = true;
        co_return;
    }
    Task<> write(std::string_view bytes) override {
        co_await may_write.pass();
        answer += bytes;
    }
    Task<> finish() override {
        finished = true;
        co_return;
    }
    Task<> finish_with(std::string_view last) override {
        co_await write(last);
        finished = true;
    }
    void abort() override { aborted = true; }
    [[nodiscard]] bool started() const override { return started_; }
    Task<> client_gone() override { return client_left.pass(); }
    Task<std::unique_ptr<Stream>> take_over(std::string) override {
        throw Error{Errc::unimplemented, "no upgrade in this test"};
    }

private:
    Executor executor_;
    std::size_t taken_ = 0;
    bool started_ = false;
};

}  // namespace oyat::rpc
