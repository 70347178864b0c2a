#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/fields.hpp"

struct nghttp2_session;

namespace oyat::http {

// The next part of an answer's body.
struct BodyPiece {
    enum class State { more, last, before_trailers, not_yet, broken };
    std::size_t size = 0;
    State state = State::not_yet;
};

// What a session tells of its streams, from inside receive() and send_into(). Nothing here may wait.
class Http2Events {
public:
    virtual ~Http2Events() = default;
    virtual void client_greeted() = 0;  // its first SETTINGS are here
    // False refuses the stream; its fields are then not told.
    virtual bool head_begins() = 0;
    virtual void head_field(std::string_view name, std::string_view value) = 0;
    virtual void head_complete(std::int32_t stream, bool ends_here) = 0;
    virtual void body_arrived(std::int32_t stream, std::string_view bytes) = 0;
    virtual void body_complete(std::int32_t stream) = 0;
    virtual BodyPiece body_wanted(std::int32_t stream, std::span<char> into) = 0;
    virtual void stream_closed(std::int32_t stream) = 0;
    // The client broke the protocol; its stream or its connection ends for it.
    virtual void frame_refused(std::string_view why) = 0;
};

// Why a stream or a connection ends (RFC 9113, 7).
enum class Http2Reason : std::uint32_t {
    no_error = 0x0,
    internal_error = 0x2,
    refused_stream = 0x7,
    cancel = 0x8,
    enhance_your_calm = 0xb,
};

// The server's side of the frames of one connection, by libnghttp2: bytes in, bytes out, no I/O. Keeps a
// client from costing more than it pays: the streams at a time, the size of heads, the number of
// CONTINUATIONs, resets, and frames that ask for nothing are all bounded; who goes beyond loses the
// connection.
class Http2Session {
public:
    Http2Session(Http2Events& events, std::size_t max_streams);
    ~Http2Session();
    Http2Session(const Http2Session&) = delete;
    Http2Session& operator=(const Http2Session&) = delete;

    // False when the connection can't go on.
    [[nodiscard]] bool receive(std::string_view bytes);
    // Appends what is to be sent until `out` has about `enough` bytes or there is nothing more.
    void send_into(std::string& out, std::size_t enough);
    // What comes would be dropped: it is not worth reading.
    [[nodiscard]] bool listens() const;
    // Nothing more will be read or sent.
    [[nodiscard]] bool over() const;

    enum class Body { none, follows };
    // `fields` are checked and belong to the message. The body is asked for by body_wanted().
    void answer(std::int32_t stream, int status, const Fields& fields, Body body);
    void answer_continue(std::int32_t stream);
    // While the piece before_trailers is asked for: what follows it.
    void trailers(std::int32_t stream, const Fields& fields);
    void more_body(std::int32_t stream);  // after BodyPiece::State::not_yet
    void reset(std::int32_t stream, Http2Reason reason);

    // Lets the client send as many bytes again, on the stream or on the connection as a whole.
    void let_stream_send(std::int32_t stream, std::size_t bytes);
    void let_connection_send(std::size_t bytes);

    void take_no_more_streams();
    void end(Http2Reason reason);  // over() once the client has been told

private:
    friend struct Http2Callbacks;
    // More frames a second that ask for nothing than any client has reason to send.
    [[nodiscard]] bool is_flooding();

    struct Free {
        void operator()(nghttp2_session* session) const noexcept;
    };
    Http2Events& events_;
    std::unique_ptr<nghttp2_session, Free> session_;
    std::int64_t flood_second_ = 0;
    int frames_in_second_ = 0;
};

}  // namespace oyat::http
