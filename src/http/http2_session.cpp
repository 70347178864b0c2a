#include "http/http2_session.hpp"

#include <nghttp2/nghttp2.h>

#include <array>
#include <chrono>
#include <vector>

#include "base/error.hpp"

namespace oyat::http {
namespace {

constexpr std::uint32_t kMaxHeadBytes = 64 * 1024;
constexpr std::uint32_t kStreamWindow = 256 * 1024;      // of a request's body, unread
constexpr std::int32_t kConnectionWindow = 1024 * 1024;  // of all bodies together, on their way
constexpr int kMaxIdleFramesPerSecond = 500;

template <class T>
T* checked(T* made) {
    if (made == nullptr) throw Error{Errc::exhausted, "HTTP/2: out of memory"};
    return made;
}

void check(int result, std::string_view what) {
    if (result < 0) {
        throw Error{Errc::internal, "HTTP/2: " + std::string{what} + ": " + ::nghttp2_strerror(result)};
    }
}

// The bytes are copied by whoever gets this.
nghttp2_nv pair_of(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {.name = bytes(name),
            .value = bytes(value),
            .namelen = name.size(),
            .valuelen = value.size(),
            .flags = NGHTTP2_NV_FLAG_NONE};
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

std::string lower_case(std::string name) {
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return name;
}

}  // namespace

// From C to Http2Events. No exception may pass through the library's frames: each becomes the end of the
// connection.
struct Http2Callbacks {
    static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

    template <class F>
    static int guarded(F&& body) noexcept {
        try {
            return body();
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static bool is_request(const nghttp2_frame* frame) {
        return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    }

    static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
        // Window updates are left out: an honest reader of a long answer sends thousands.
        const bool asks_nothing = head->type == NGHTTP2_PING || head->type == NGHTTP2_SETTINGS ||
                                  head->type == NGHTTP2_PRIORITY ||
                                  (head->type == NGHTTP2_DATA && head->length == 0);
        return asks_nothing && self(user).is_flooding() ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    }

    static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        if (!is_request(frame)) return 0;  // trailers: HTTP/1.1 behind us has no use for them
        return guarded([&] {
            if (self(user).events_.head_begins()) return 0;
            return ::nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                               NGHTTP2_REFUSED_STREAM);
        });
    }

    static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                      void* user) {
        if (!is_request(frame)) return 0;
        return guarded([&] {
            self(user).events_.head_field(text_of(name, name_size), text_of(value, value_size));
            return 0;
        });
    }

    static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return guarded([&] {
            Http2Events& events = self(user).events_;
            const std::int32_t stream = frame->hd.stream_id;
            const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
            if (frame->hd.type == NGHTTP2_SETTINGS) {
                events.client_greeted();
            } else if (is_request(frame)) {
                events.head_complete(stream, ends);
            } else if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) && ends) {
                events.body_complete(stream);
            }
            return 0;
        });
    }

    static int invalid_frame(nghttp2_session*, const nghttp2_frame*, int error, void* user) {
        return guarded([&] {
            self(user).events_.frame_refused(::nghttp2_strerror(error));
            return 0;
        });
    }

    static int data_chunk(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                          std::size_t size, void* user) {
        return guarded([&] {
            self(user).events_.body_arrived(stream, text_of(bytes, size));
            return 0;
        });
    }

    static int stream_closed(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
        return guarded([&] {
            self(user).events_.stream_closed(stream);
            return 0;
        });
    }

    static ssize_t read_body(nghttp2_session*, std::int32_t stream, std::uint8_t* into, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source*, void* user) {
        try {
            const BodyPiece piece =
                self(user).events_.body_wanted(stream, {reinterpret_cast<char*>(into), size});
            switch (piece.state) {
                case BodyPiece::State::last: *flags |= NGHTTP2_DATA_FLAG_EOF; break;
                case BodyPiece::State::before_trailers:
                    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
                    break;
                case BodyPiece::State::more: break;
                case BodyPiece::State::not_yet: return NGHTTP2_ERR_DEFERRED;
                case BodyPiece::State::broken: return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
            }
            return static_cast<ssize_t>(piece.size);
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }
};

void Http2Session::Free::operator()(nghttp2_session* session) const noexcept {
    ::nghttp2_session_del(session);
}

Http2Session::Http2Session(Http2Events& events, std::size_t max_streams) : events_{events} {
    nghttp2_session_callbacks* made_callbacks = nullptr;
    ::nghttp2_session_callbacks_new(&made_callbacks);
    const std::unique_ptr<nghttp2_session_callbacks, decltype(&::nghttp2_session_callbacks_del)> callbacks{
        checked(made_callbacks), ::nghttp2_session_callbacks_del};
    ::nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks.get(), Http2Callbacks::begin_frame);
    ::nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks.get(), Http2Callbacks::begin_headers);
    ::nghttp2_session_callbacks_set_on_header_callback(callbacks.get(), Http2Callbacks::header);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks.get(), Http2Callbacks::frame_received);
    ::nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks.get(),
                                                                   Http2Callbacks::invalid_frame);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks.get(), Http2Callbacks::data_chunk);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks.get(), Http2Callbacks::stream_closed);

    nghttp2_option* made_option = nullptr;
    ::nghttp2_option_new(&made_option);
    const std::unique_ptr<nghttp2_option, decltype(&::nghttp2_option_del)> option{checked(made_option),
                                                                                  ::nghttp2_option_del};
    // The window opens as handlers read: who uploads to a slow one waits.
    ::nghttp2_option_set_no_auto_window_update(option.get(), 1);
    ::nghttp2_option_set_max_outbound_ack(option.get(), 100);
    // Rapid reset (CVE-2023-44487) and a head without end (CVE-2024-28182).
    ::nghttp2_option_set_stream_reset_rate_limit(option.get(), 500, 50);
    ::nghttp2_option_set_max_continuations(option.get(), 8);

    nghttp2_session* session = nullptr;
    ::nghttp2_session_server_new2(&session, callbacks.get(), this, option.get());
    session_.reset(checked(session));

    const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                                     static_cast<std::uint32_t>(max_streams)},
                              nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
                              nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes},
                              nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
    check(::nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()),
          "settings");
    check(::nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow),
          "window");
}

Http2Session::~Http2Session() = default;

bool Http2Session::is_flooding() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    if (second != flood_second_) frames_in_second_ = 0;
    flood_second_ = second;
    return ++frames_in_second_ > kMaxIdleFramesPerSecond;
}

bool Http2Session::receive(std::string_view bytes) {
    return ::nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                      bytes.size()) >= 0;
}

void Http2Session::send_into(std::string& out, std::size_t enough) {
    while (out.size() < enough) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = ::nghttp2_session_mem_send(session_.get(), &bytes);
        if (size < 0)
            throw Error{Errc::unavailable,
                        "HTTP/2: " + std::string{::nghttp2_strerror(static_cast<int>(size))}};
        if (size == 0) return;
        out.append(text_of(bytes, static_cast<std::size_t>(size)));
    }
}

bool Http2Session::listens() const {
    return ::nghttp2_session_want_read(session_.get()) != 0;
}

bool Http2Session::over() const {
    return !listens() && ::nghttp2_session_want_write(session_.get()) == 0;
}

void Http2Session::answer(std::int32_t stream, int status, const Fields& fields, Body body) {
    std::vector<std::string> names;  // lower case, as HTTP/2 wants them (RFC 9113, 8.2.1)
    names.reserve(fields.size());
    const std::string number = std::to_string(status);
    std::vector<nghttp2_nv> pairs{pair_of(":status", number)};
    for (const auto& [name, value] : fields) {
        pairs.push_back(pair_of(names.emplace_back(lower_case(name)), value));
    }
    const nghttp2_data_provider provider{.source = {}, .read_callback = Http2Callbacks::read_body};
    check(::nghttp2_submit_response(session_.get(), stream, pairs.data(), pairs.size(),
                                    body == Body::follows ? &provider : nullptr),
          "answer");
}

void Http2Session::answer_continue(std::int32_t stream) {
    const nghttp2_nv status = pair_of(":status", "100");
    check(::nghttp2_submit_headers(session_.get(), NGHTTP2_FLAG_NONE, stream, nullptr, &status, 1, nullptr),
          "interim answer");
}

void Http2Session::trailers(std::int32_t stream, const Fields& fields) {
    std::vector<std::string> names;  // lower case, as in answer()
    names.reserve(fields.size());
    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : fields) {
        pairs.push_back(pair_of(names.emplace_back(lower_case(name)), value));
    }
    check(::nghttp2_submit_trailer(session_.get(), stream, pairs.data(), pairs.size()), "trailers");
}

void Http2Session::more_body(std::int32_t stream) {
    // Fails when the body is not waited for: then it is asked for soon in any case.
    (void)::nghttp2_session_resume_data(session_.get(), stream);
}

void Http2Session::reset(std::int32_t stream, Http2Reason reason) {
    check(::nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream,
                                      static_cast<std::uint32_t>(reason)),
          "reset");
}

void Http2Session::let_stream_send(std::int32_t stream, std::size_t bytes) {
    // Fails for a stream that is closed: then nobody sends there.
    (void)::nghttp2_session_consume_stream(session_.get(), stream, bytes);
}

void Http2Session::let_connection_send(std::size_t bytes) {
    check(::nghttp2_session_consume_connection(session_.get(), bytes), "window");
}

void Http2Session::take_no_more_streams() {
    check(::nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                                  ::nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                                  nullptr, 0),
          "farewell");
}

void Http2Session::end(Http2Reason reason) {
    check(::nghttp2_session_terminate_session(session_.get(), static_cast<std::uint32_t>(reason)), "end");
}

}  // namespace oyat::http
