#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/byte_buffer.hpp"
#include "http/exchange.hpp"
#include "http/head.hpp"
#include "http/http2_session.hpp"
#include "http/trailers.hpp"
#include "io/condition.hpp"
#include "io/timer.hpp"

namespace oyat::http {

class Http2Connection;

// The exchange that a handler sees, on one stream. Lives on its connection until the handler has returned,
// which may be after the stream's end.
class Http2Exchange final : public Exchange, public TakesTrailers {
public:
    Http2Exchange(Http2Connection& connection, std::int32_t stream, ParsedRequest request);
    Http2Exchange(const Http2Exchange&) = delete;
    Http2Exchange& operator=(const Http2Exchange&) = delete;

    [[nodiscard]] const RequestHead& request() const override { return request_.head; }
    [[nodiscard]] Executor executor() const override;

    Task<std::size_t> read_body(std::span<char> into) override;
    Task<std::string> read_whole_body(std::size_t limit) override;
    void allow_silence(Millis limit) override { body_timeout_ = limit; }
    Task<> respond(int status, Fields fields, std::string body) override;
    Task<> start(int status, Fields fields, std::optional<std::uint64_t> length) override;
    Task<> write(std::string_view bytes) override;
    Task<> finish() override;
    Task<> finish_with(std::string_view last) override;
    // Resets the stream; others of the connection go on.
    void abort() override;
    [[nodiscard]] bool started() const override { return phase_ != Phase::fresh; }
    Task<> client_gone() override;
    // Throws Error{failed_precondition}: here nobody can ask for an upgrade.
    Task<std::unique_ptr<Stream>> take_over(std::string head_bytes) override;

    void set_trailers(Fields trailers) override { trailers_ = std::move(trailers); }

    // For the connection.
    [[nodiscard]] std::int32_t stream() const { return stream_; }
    enum class Phase { fresh, started, finished, aborted };
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] bool is_head_only() const { return !has_answer_body_; }
    [[nodiscard]] bool body_ended() const { return body_ended_; }
    [[nodiscard]] bool stream_open() const { return !closed_; }
    [[nodiscard]] std::size_t unread() const { return body_.size(); }
    [[nodiscard]] int body_failure() const { return body_failure_; }

    void body_arrived(std::string_view bytes);
    void body_complete();
    [[nodiscard]] BodyPiece next_piece(std::span<char> into);
    void stream_closed();

private:
    void begin_answer(int status, const Fields& fields, std::optional<std::uint64_t> length);
    Task<> await_body();
    Task<> await_taken();
    void count_sized(std::size_t bytes);
    void require_started() const;

    Http2Connection& connection_;
    std::int32_t stream_;
    ParsedRequest request_;
    Phase phase_ = Phase::fresh;
    bool closed_ = false;  // the stream

    ByteBuffer body_;  // came, but is not read yet; bounded by the stream's window
    bool body_ended_ = false;
    bool owes_continue_;
    bool body_late_ = false;
    int body_failure_ = 0;
    Millis body_timeout_;
    Timer body_deadline_;
    Condition body_changed_;

    bool has_answer_body_ = false;
    std::optional<std::uint64_t> left_;  // of a sized answer
    std::string_view output_;            // what write() waits to see taken
    bool output_ends_ = false;           // nothing comes after it
    bool end_taken_ = false;             // the whole answer is on its way
    Fields trailers_;
    Timer output_deadline_;
    Condition output_taken_;

    Condition gone_;
};

}  // namespace oyat::http
