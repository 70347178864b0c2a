#include "io/loop.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <exception>

#include "base/throwing.hpp"
#include "io/spawn.hpp"

namespace oyat {

namespace asio = boost::asio;

struct Loop::Impl {
    asio::io_context context{1};  // one thread runs it
};

Loop::Loop() : impl_{std::make_unique<Impl>()} {}
Loop::~Loop() = default;

Executor Loop::executor() const {
    return impl_->context.get_executor();
}

void Loop::run(Task<> task) {
    bool done = false;
    std::exception_ptr failure;
    detail::spawn(executor(), std::move(task), [&done, &failure](const std::exception_ptr& error) {
        done = true;
        failure = error;
    });
    impl_->context.restart();
    while (!done && impl_->context.run_one() > 0) {
    }
    if (failure) std::rethrow_exception(failure);
}

Task<int> wait_signal(std::vector<int> signals) {
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
        throw canceled();
    }
    asio::signal_set set{co_await asio::this_coro::executor};
    for (const int signal : signals) set.add(signal);
    boost::system::error_code error;
    const int received = co_await set.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (error) throw canceled();
    co_return received;
}

}  // namespace oyat
