#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/http2_head.hpp"
#include "http/http2_session.hpp"
#include "http/served_connection.hpp"
#include "io/condition.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::http {

class Http2Exchange;

// One client's connection of HTTP/2: one task reads, one writes, and one for each request answers.
class Http2Connection final : public ServedConnection, private Http2Events {
public:
    Http2Connection(Executor executor, Accepted accepted, Service& service);
    ~Http2Connection() override;
    Http2Connection(const Http2Connection&) = delete;
    Http2Connection& operator=(const Http2Connection&) = delete;

    Task<> serve() override;
    void end_soon() override;

private:
    friend class Http2Exchange;

    Task<> read_all();
    Task<> write_all();
    Task<> linger();
    struct Refusal {
        int status = 0;
        std::string message;
    };
    Task<> answer(std::int32_t stream, std::optional<Refusal> refusal);
    Task<> end_answer(Http2Exchange& exchange, std::exception_ptr error);
    void forget(std::int32_t stream);
    [[nodiscard]] Http2Exchange* find(std::int32_t stream);

    // Something is to be sent.
    void wake() { work_.notify_all(); }
    // A handler has taken so much of its body.
    void body_read(std::int32_t stream, std::size_t bytes);
    void give_back(std::size_t bytes);

    void client_greeted() override;
    bool head_begins() override;
    void head_field(std::string_view name, std::string_view value) override;
    void head_complete(std::int32_t stream, bool ends_here) override;
    void body_arrived(std::int32_t stream, std::string_view bytes) override;
    void body_complete(std::int32_t stream) override;
    BodyPiece body_wanted(std::int32_t stream, std::span<char> into) override;
    void stream_closed(std::int32_t stream) override;
    void frame_refused(std::string_view why) override;

    Executor executor_;
    std::unique_ptr<Stream> stream_;
    std::string peer_;
    bool tls_;
    Service& service_;
    Http2Session session_;
    std::map<std::int32_t, std::unique_ptr<Http2Exchange>> exchanges_;

    // The head that is coming in; heads of two streams never mix.
    Http2Fields head_;
    std::size_t head_bytes_ = 0;
    bool head_too_long_ = false;

    std::size_t unread_ = 0;  // of all bodies
    std::size_t owed_ = 0;    // read from the connection's window, and not given back yet
    bool ending_ = false;
    Condition work_;
    Condition drained_;  // all that there was to send has been given to the socket
    Timer head_deadline_;
    Timer idle_deadline_;
    Timer write_deadline_;
    TaskGroup handlers_;
};

}  // namespace oyat::http
