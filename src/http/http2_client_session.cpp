#include "http/http2_client_session.hpp"

#include <nghttp2/nghttp2.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "http/grammar.hpp"
#include "http/head.hpp"

namespace oyat::http {
namespace {

constexpr std::uint32_t kWindow = 256 * 1024;  // of the answer's body, unread
constexpr std::size_t kMaxHeadBytes = 64 * 1024;
constexpr std::size_t kFieldOverhead = 32;  // as RFC 9113, 6.5.2 counts a list of fields
constexpr std::size_t kMaxInterim = 8;
constexpr int kMaxIdleFramesPerSecond = 500;

void check(int result, std::string_view what) {
    if (result < 0) {
        throw Error{Errc::internal, "HTTP/2: " + std::string{what} + ": " + ::nghttp2_strerror(result)};
    }
}

std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

Error bad(std::string_view what) {
    return Error{Errc::unavailable, Fault::upstream, "the server's answer: " + std::string{what}};
}

}  // namespace

// From C to the session. No exception may pass through the library's frames: each becomes the end of the
// connection.
struct Http2ClientCallbacks {
    static Http2ClientSession& self(void* user) { return *static_cast<Http2ClientSession*>(user); }

    template <class F>
    static int guarded(F&& body) noexcept {
        try {
            body();
            return 0;
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
        const bool asks_nothing = head->type == NGHTTP2_PING || head->type == NGHTTP2_SETTINGS ||
                                  head->type == NGHTTP2_PRIORITY ||
                                  (head->type == NGHTTP2_DATA && head->length == 0);
        return asks_nothing && self(user).is_flooding() ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    }
    static int begin_headers(nghttp2_session*, const nghttp2_frame*, void* user) {
        self(user).head_begins();
        return 0;
    }
    static int header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
        return guarded([&] { self(user).field(text_of(name, name_size), text_of(value, value_size)); });
    }
    static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        return guarded([&] {
            if (frame->hd.type == NGHTTP2_HEADERS) self(user).head_ends(ends);
            const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
            if (carries && ends) self(user).complete_ = true;
        });
    }
    static int data_chunk(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes,
                          std::size_t size, void* user) {
        return guarded([&] { self(user).body_ += text_of(bytes, size); });
    }
    static int stream_closed(nghttp2_session*, std::int32_t, std::uint32_t, void* user) {
        self(user).closed_ = true;
        return 0;
    }
    static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source*, void* user) {
        try {
            const BodyPiece piece = self(user).next_piece_({reinterpret_cast<char*>(into), size});
            switch (piece.state) {
                case BodyPiece::State::last: *flags |= NGHTTP2_DATA_FLAG_EOF; break;
                case BodyPiece::State::more: break;
                case BodyPiece::State::not_yet: return NGHTTP2_ERR_DEFERRED;
                case BodyPiece::State::before_trailers:
                case BodyPiece::State::broken: return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
            }
            return static_cast<ssize_t>(piece.size);
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }
};

void Http2ClientSession::Free::operator()(nghttp2_session* session) const noexcept {
    ::nghttp2_session_del(session);
}

Http2ClientSession::Http2ClientSession(const Http2Fields& head, NextPiece next_piece)
    : next_piece_{std::move(next_piece)} {
    nghttp2_session_callbacks* made_callbacks = nullptr;
    check(::nghttp2_session_callbacks_new(&made_callbacks), "callbacks");
    const std::unique_ptr<nghttp2_session_callbacks, decltype(&::nghttp2_session_callbacks_del)> callbacks{
        made_callbacks, ::nghttp2_session_callbacks_del};
    using Callbacks = Http2ClientCallbacks;
    ::nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks.get(), Callbacks::begin_frame);
    ::nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks.get(), Callbacks::begin_headers);
    ::nghttp2_session_callbacks_set_on_header_callback(callbacks.get(), Callbacks::header);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks.get(), Callbacks::frame_received);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks.get(), Callbacks::data_chunk);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks.get(), Callbacks::stream_closed);

    nghttp2_option* made_option = nullptr;
    check(::nghttp2_option_new(&made_option), "options");
    const std::unique_ptr<nghttp2_option, decltype(&::nghttp2_option_del)> option{made_option,
                                                                                  ::nghttp2_option_del};
    // The window opens as the program reads.
    ::nghttp2_option_set_no_auto_window_update(option.get(), 1);
    ::nghttp2_option_set_max_outbound_ack(option.get(), 100);
    ::nghttp2_option_set_max_continuations(option.get(), 8);

    nghttp2_session* session = nullptr;
    check(::nghttp2_session_client_new2(&session, callbacks.get(), this, option.get()), "session");
    session_.reset(session);
    const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                              nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
                              nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes}};
    check(::nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()),
          "settings");
    check(::nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindow), "window");

    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : head) {
        pairs.push_back({bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    const nghttp2_data_provider provider{.source = {}, .read_callback = Http2ClientCallbacks::read_body};
    stream_ = ::nghttp2_submit_request(session, nullptr, pairs.data(), pairs.size(),
                                       next_piece_ ? &provider : nullptr, nullptr);
    check(stream_, "request");
}

Http2ClientSession::~Http2ClientSession() = default;

bool Http2ClientSession::receive(std::string_view bytes) {
    return ::nghttp2_session_mem_recv(session_.get(), bytes_of(bytes), bytes.size()) >= 0;
}

bool Http2ClientSession::given_up() const noexcept {
    return ::nghttp2_session_want_read(session_.get()) == 0 &&
           ::nghttp2_session_want_write(session_.get()) == 0;
}

void Http2ClientSession::send_into(std::string& out, std::size_t enough) {
    while (out.size() < enough) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = ::nghttp2_session_mem_send(session_.get(), &bytes);
        if (size < 0) throw bad(::nghttp2_strerror(static_cast<int>(size)));
        if (size == 0) return;
        out.append(text_of(bytes, static_cast<std::size_t>(size)));
    }
}

void Http2ClientSession::more_body() {
    // Fails when the body is not waited for: then it is asked for soon in any case.
    (void)::nghttp2_session_resume_data(session_.get(), stream_);
}

std::string Http2ClientSession::take_body() {
    std::string taken = std::exchange(body_, {});
    // Fails for a stream that is closed: then nobody sends there.
    (void)::nghttp2_session_consume(session_.get(), stream_, taken.size());
    return taken;
}

bool Http2ClientSession::is_flooding() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    if (second != flood_second_) frames_in_second_ = 0;
    flood_second_ = second;
    return ++frames_in_second_ > kMaxIdleFramesPerSecond;
}

void Http2ClientSession::head_begins() {
    status_ = 0;
    fields_ = {};
    head_bytes_ = 0;
}

void Http2ClientSession::field(std::string_view name, std::string_view value) {
    head_bytes_ += name.size() + value.size() + kFieldOverhead;
    if (head_bytes_ > kMaxHeadBytes || fields_.size() >= kMaxFieldCount) throw bad("its head is too long");
    if (name == ":status") {
        const auto number = parse_decimal(value, 3);
        if (!number || *number < 100) throw bad("its status is none");
        status_ = static_cast<int>(*number);
    } else if (is_token(name) && is_field_value(value)) {
        fields_.add(std::string{name}, std::string{value});
    } else {
        throw bad("a field that can't be in a head");
    }
}

// An interim answer, the head of the final one, or what follows its body.
void Http2ClientSession::head_ends(bool ends_here) {
    if (head_) {
        trailers_ = std::exchange(fields_, {});
    } else if (status_ >= 200) {
        head_ = Head{.status = status_, .fields = std::exchange(fields_, {}), .ends_here = ends_here};
    } else if (status_ < 100 || ++interim_ > kMaxInterim) {
        throw bad("too many interim answers");
    }
}

}  // namespace oyat::http
