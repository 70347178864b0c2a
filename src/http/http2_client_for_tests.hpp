#pragma once

#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/throwing.hpp"
#include "http/served_connection.hpp"
#include "io/stream.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

// For tests: a client of HTTP/2 by the library's other half, and a server of one connection.
namespace oyat::http::testing {

struct Http2Answer {
    int status = 0;
    std::map<std::string, std::string> fields;
    std::string body;
    bool closed = false;
    std::uint32_t reason = 0;  // of the stream's end
};

class Http2Client {
public:
    enum class Windows { open, shut };  // shut: never lets the server send more than 64 KiB

    explicit Http2Client(std::unique_ptr<Stream> stream, Windows windows = Windows::open)
        : stream_{std::move(stream)} {
        nghttp2_session_callbacks* callbacks = nullptr;
        ::nghttp2_session_callbacks_new(&callbacks);
        ::nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_option* option = nullptr;
        ::nghttp2_option_new(&option);
        ::nghttp2_option_set_no_auto_window_update(option, windows == Windows::shut ? 1 : 0);
        ::nghttp2_session_client_new2(&session_, callbacks, this, option);
        ::nghttp2_option_del(option);
        ::nghttp2_session_callbacks_del(callbacks);
        ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
    }
    Http2Client(const Http2Client&) = delete;
    Http2Client& operator=(const Http2Client&) = delete;
    ~Http2Client() { ::nghttp2_session_del(session_); }

    using Pairs = std::vector<std::pair<std::string, std::string>>;

    // The stream of a new request; its answer is in answers[stream].
    std::int32_t ask(const std::string& method, const std::string& path, std::string body = {},
                     const Pairs& more = {}) {
        Pairs pairs{{":method", method}, {":scheme", "https"}, {":authority", "a.test"}, {":path", path}};
        pairs.insert(pairs.end(), more.begin(), more.end());
        return send_head(pairs, std::move(body));
    }

    std::int32_t send_head(const Pairs& pairs, std::string body = {}) {
        std::vector<nghttp2_nv> list;
        for (const auto& [name, value] : pairs) {
            list.push_back(
                {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
        }
        const nghttp2_data_provider provider{.source = {}, .read_callback = read_body};
        const std::int32_t stream = ::nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                                             body.empty() ? nullptr : &provider, nullptr);
        bodies_[stream] = std::move(body);
        return stream;
    }

    void reset(std::int32_t stream) {
        ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    }
    void ping() { ::nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

    // Sends and reads until it holds, or until the server is gone.
    Task<> until(std::function<bool()> holds) {
        co_await with_timeout(Millis{20'000}, "HTTP/2 in a test", pump(std::move(holds)));
    }
    Task<> until_answered(std::int32_t stream) {
        co_await until([this, stream] { return answers[stream].closed; });
    }
    Task<> flush() {
        std::string out;
        const std::uint8_t* bytes = nullptr;
        while (const ssize_t size = ::nghttp2_session_mem_send(session_, &bytes)) {
            if (size < 0) break;
            out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
        }
        if (!out.empty()) co_await stream_->write_all(out);
    }

    Stream& stream() { return *stream_; }

    std::map<std::int32_t, Http2Answer> answers;
    bool server_left = false;
    bool goaway = false;

private:
    static std::uint8_t* bytes_of(const std::string& text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    }
    static Http2Client& self(void* user) { return *static_cast<Http2Client*>(user); }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t, void* user) {
        const std::string key{reinterpret_cast<const char*>(name), name_size};
        const std::string text{reinterpret_cast<const char*>(value), value_size};
        Http2Answer& answer = self(user).answers[frame->hd.stream_id];
        if (key == ":status") {
            answer.status = std::stoi(text);
        } else {
            answer.fields[key] = text;
        }
        return 0;
    }
    static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                       std::size_t size, void* user) {
        self(user).answers[stream].body.append(reinterpret_cast<const char*>(bytes), size);
        return 0;
    }
    static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t reason, void* user) {
        self(user).answers[stream].closed = true;
        self(user).answers[stream].reason = reason;
        return 0;
    }
    static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        self(user).goaway |= frame->hd.type == NGHTTP2_GOAWAY;
        return 0;
    }
    static ssize_t read_body(nghttp2_session*, std::int32_t stream, std::uint8_t* into, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source*, void* user) {
        std::string& body = self(user).bodies_[stream];
        const std::size_t count = std::min(size, body.size());
        std::copy_n(body.begin(), count, into);
        body.erase(0, count);
        if (body.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
        return static_cast<ssize_t>(count);
    }

    Task<> pump(std::function<bool()> holds) {
        std::array<char, 16384> buffer;
        while (!server_left) {
            try {
                co_await flush();
                if (holds()) co_return;
                const std::size_t got = co_await stream_->read_some(buffer);
                server_left = got == 0;
                ::nghttp2_session_mem_recv(session_, reinterpret_cast<std::uint8_t*>(buffer.data()), got);
            } catch (const Error& e) {
                if (e.code() != Errc::unavailable) throw;
                server_left = true;
            }
        }
    }

    std::unique_ptr<Stream> stream_;
    nghttp2_session* session_ = nullptr;
    std::map<std::int32_t, std::string> bodies_;
};

// Serves one end of a socket pair; the other end is the client's.
class Http2Served {
public:
    Http2Served(Executor executor, Handler handler, ServerOptions options = {})
        : service_{.handler = std::move(handler),
                   .options = options,
                   .on_refused = [this](std::string_view why) { refusals.emplace_back(why); }},
          tasks_{executor} {
        std::array<int, 2> ends{};
        sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
        client = make_stream(executor, Fd{ends[0]});
        connection = make_connection(
            executor,
            {.stream = make_stream(executor, Fd{ends[1]}), .peer = "192.0.2.7", .tls = true, .http2 = true},
            service_);
        tasks_.spawn(connection->serve());
    }
    Task<> close() { co_await tasks_.close(); }
    Task<> ended() { co_await with_timeout(Millis{20'000}, "the server's end", tasks_.wait_idle()); }

    std::unique_ptr<Stream> client;
    std::unique_ptr<ServedConnection> connection;
    std::vector<std::string> refusals;  // that the service was told of

private:
    Service service_;
    TaskGroup tasks_;
};

}  // namespace oyat::http::testing
