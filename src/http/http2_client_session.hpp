#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/fields.hpp"
#include "http/http2_head.hpp"
#include "http/http2_session.hpp"

struct nghttp2_session;

namespace oyat::http {

// The client's side of a connection of HTTP/2 that carries one request, by libnghttp2: bytes in, bytes out,
// no I/O. The server is as little trusted as a client: the size of its heads, interim answers and frames that
// ask for nothing are bounded; a server that goes beyond is not listened to any more.
class Http2ClientSession {
public:
    // Asked for the next piece of the request's body, from inside send_into().
    using NextPiece = std::function<BodyPiece(std::span<char> into)>;

    // `next_piece` is empty for a request without a body.
    Http2ClientSession(const Http2Fields& head, NextPiece next_piece);
    ~Http2ClientSession();
    Http2ClientSession(const Http2ClientSession&) = delete;
    Http2ClientSession& operator=(const Http2ClientSession&) = delete;

    // False when the connection can't go on.
    [[nodiscard]] bool receive(std::string_view bytes);
    // Appends what is to be sent until `out` has about `enough` bytes or there is nothing more.
    void send_into(std::string& out, std::size_t enough);
    void more_body();  // after BodyPiece::State::not_yet

    // The head of the final answer, once it is complete.
    struct Head {
        int status = 0;
        Fields fields;
        bool ends_here = false;  // no body, no trailers
    };
    [[nodiscard]] const std::optional<Head>& head() const noexcept { return head_; }
    // What has come of the body since the last call; lets the server send as much again.
    [[nodiscard]] std::string take_body();
    [[nodiscard]] bool has_body() const noexcept { return !body_.empty(); }
    [[nodiscard]] const Fields& trailers() const noexcept { return trailers_; }
    // The answer is complete, or the server has given it up.
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    // The library takes nothing more after what the server did, and has said so.
    [[nodiscard]] bool given_up() const noexcept;

private:
    friend struct Http2ClientCallbacks;
    struct Free {
        void operator()(nghttp2_session* session) const noexcept;
    };

    void head_begins();
    void field(std::string_view name, std::string_view value);
    void head_ends(bool ends_here);
    [[nodiscard]] bool is_flooding();

    NextPiece next_piece_;
    std::unique_ptr<nghttp2_session, Free> session_;
    std::int32_t stream_ = 0;

    std::optional<Head> head_;
    int status_ = 0;
    Fields fields_;  // of the head or the trailers that are coming
    std::size_t head_bytes_ = 0;
    std::size_t interim_ = 0;
    std::int64_t flood_second_ = 0;
    int frames_in_second_ = 0;
    std::string body_;  // came, but was not taken yet; bounded by the stream's window
    Fields trailers_;
    bool complete_ = false;
    bool closed_ = false;
};

}  // namespace oyat::http
