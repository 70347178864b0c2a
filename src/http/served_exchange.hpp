#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/body_reader.hpp"
#include "http/connection.hpp"
#include "http/exchange.hpp"

namespace oyat::http {

// The exchange that a handler sees, on one connection. Lives for the time of one request, on the frame of
// Connection::answer.
class ServedExchange final : public Exchange {
public:
    ServedExchange(Connection& connection, ParsedRequest request);
    ServedExchange(const ServedExchange&) = delete;
    ServedExchange& operator=(const ServedExchange&) = delete;
    ~ServedExchange() override;

    [[nodiscard]] const RequestHead& request() const override { return request_.head; }
    [[nodiscard]] Executor executor() const override { return connection_.executor_; }

    Task<std::size_t> read_body(std::span<char> into) override;
    Task<std::string> read_whole_body(std::size_t limit) override;
    void allow_silence(Millis limit) override { body_timeout_ = limit; }
    Task<> respond(int status, Fields fields, std::string body) override;
    Task<> start(int status, Fields fields, std::optional<std::uint64_t> length) override;
    Task<> write(std::string_view bytes) override;
    Task<> finish() override;
    Task<> finish_with(std::string_view last) override;
    void abort() override;
    [[nodiscard]] bool started() const override { return phase_ != Phase::fresh; }
    Task<> client_gone() override;
    Task<std::unique_ptr<Stream>> take_over(std::string head_bytes) override;

    // For the connection, once the handler has returned.
    enum class Phase { fresh, started, finished, aborted, taken };
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] bool keeps_connection() const { return keep_alive_; }
    [[nodiscard]] bool body_done() const { return body_.done(); }
    // The status that the failure of the request's body asks for; 0 when it did not fail.
    [[nodiscard]] int body_failure() const { return body_failure_; }
    void forbid_keep_alive() { keep_alive_ = false; }

private:
    enum class Framing { no_body, sized, chunked, until_close };

    void begin_answer(int status, const Fields& fields, std::optional<std::uint64_t> length);
    void send_head_later();
    static Task<> send_head_now(std::shared_ptr<ServedExchange*> self, Connection& connection);
    [[nodiscard]] bool must_close() const;
    void require_fresh() const;

    Connection& connection_;
    ParsedRequest request_;
    BodyReader body_;
    Millis body_timeout_;
    bool continue_sent_ = false;
    int body_failure_ = 0;

    Phase phase_ = Phase::fresh;
    bool keep_alive_ = true;
    Framing framing_ = Framing::no_body;
    std::uint64_t left_ = 0;  // of a sized answer
    std::string head_;        // not sent yet: it waits for the first bytes of the body

    // Points here as long as this object exists; for a callback that may come later.
    std::shared_ptr<ServedExchange*> self_;
};

}  // namespace oyat::http
