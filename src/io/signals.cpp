#include "io/signals.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/cancel.hpp"

namespace oyat {

namespace asio = boost::asio;

struct Signals::Impl {
    explicit Impl(const Executor& executor) : set{executor} {}
    asio::signal_set set;
};

Signals::Signals(Executor executor, const std::vector<int>& signals)
    : impl_{std::make_unique<Impl>(executor)} {
    for (const int signal : signals) impl_->set.add(signal);
}

Signals::~Signals() = default;

Task<int> Signals::next() {
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
        throw canceled();
    }
    boost::system::error_code error;
    const int received = co_await impl_->set.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (error) throw canceled();
    co_return received;
}

}  // namespace oyat
