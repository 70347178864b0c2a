#pragma once

#include "http/exchange.hpp"

namespace oyat::e2b {

// Browser pages of any origin may use the agent's door: what proves is a token in a header, which no page has
// by itself. Passes everything on and adds the fields that the browser asks for to every answer.
class CrossOriginExchange final : public http::Exchange {
public:
    explicit CrossOriginExchange(http::Exchange& exchange) : exchange_{exchange} {}

    // Answers a preflight request.
    Task<> answer_preflight();

    [[nodiscard]] const http::RequestHead& request() const override { return exchange_.request(); }
    [[nodiscard]] Executor executor() const override { return exchange_.executor(); }
    Task<std::size_t> read_body(std::span<char> into) override { return exchange_.read_body(into); }
    Task<std::string> read_whole_body(std::size_t limit) override { return exchange_.read_whole_body(limit); }
    void allow_silence(Millis limit) override { exchange_.allow_silence(limit); }
    Task<> respond(int status, http::Fields fields, std::string body) override;
    Task<> start(int status, http::Fields fields, std::optional<std::uint64_t> length) override;
    Task<> write(std::string_view bytes) override { return exchange_.write(bytes); }
    Task<> finish() override { return exchange_.finish(); }
    Task<> finish_with(std::string_view last) override { return exchange_.finish_with(last); }
    void abort() override { exchange_.abort(); }
    [[nodiscard]] bool started() const override { return exchange_.started(); }
    Task<> client_gone() override { return exchange_.client_gone(); }
    Task<std::unique_ptr<Stream>> take_over(std::string head_bytes) override {
        return exchange_.take_over(std::move(head_bytes));
    }

private:
    http::Exchange& exchange_;
};

}  // namespace oyat::e2b
