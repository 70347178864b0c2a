#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/byte_buffer.hpp"
#include "http/head.hpp"
#include "http/served_connection.hpp"
#include "io/condition.hpp"
#include "io/stream.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::http {

class ServedExchange;

// One client's connection of HTTP/1.1: reads a request, lets the handler answer, and so on until either side
// ends it.
class Connection final : public ServedConnection {
public:
    Connection(Executor executor, Accepted accepted, Service& service);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Task<> serve() override;
    // Ends at once when between two requests, else after the present one.
    void end_soon() override;

private:
    friend class ServedExchange;

    enum class Next { another_request, end };
    enum class Reading { nothing, idle, head, body, lingering };

    Task<> serve_requests();
    Task<std::optional<ParsedRequest>> read_head();
    Task<Next> answer(ParsedRequest request);
    Task<Next> answer_failed(ServedExchange& exchange, std::exception_ptr error);
    Task<bool> drain(ServedExchange& exchange);
    Task<> refuse_request(int status, std::string message);
    Task<> linger();

    // Reads more into `input_`, or `into`; 0 at the end of the stream or when `limit` ran out (timed_out_).
    Task<std::size_t> read_more();
    void begin_reading(Reading what, std::chrono::nanoseconds limit);
    void end_reading() noexcept;

    // One writer at a time: the handler, or the task that sends a head which waited for company in vain.
    Task<> lock_writing();
    void unlock_writing();
    Task<> send(std::span<const std::string_view> parts);

    Executor executor_;
    std::unique_ptr<Stream> stream_;  // null after a take-over
    std::string peer_;
    bool tls_;
    Service& service_;

    ByteBuffer input_;
    Reading reading_ = Reading::nothing;
    bool timed_out_ = false;
    bool ending_ = false;
    Timer read_deadline_;

    bool writing_ = false;
    Condition write_turn_;
    Timer write_deadline_;

    TaskGroup helpers_;
};

}  // namespace oyat::http
