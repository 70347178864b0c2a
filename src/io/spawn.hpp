#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "io/cancel.hpp"
#include "io/task.hpp"

// How tasks are started, for the .cpp files of io only: it brings much of Asio along.
namespace oyat::detail {

// The outermost frame of every task that io starts.
inline Task<> started(Task<> task) {
    // Asio would throw its own exception at every co_await of a canceled coroutine, also at those of
    // clean-up. With this only waits feel it, and with our own Error.
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    // Never inside the starter's call: nobody expects a spawn to run half of the task.
    co_await boost::asio::post(boost::asio::use_awaitable);
    if ((co_await boost::asio::this_coro::cancellation_state).cancelled() !=
        boost::asio::cancellation_type::none) {
        throw canceled();
    }
    co_await std::move(task);
}

// Starts a task; `done` is called with its exception or null when it has ended. The signal outlives the task.
template <class Done>
void spawn(const Executor& executor, Task<> task, boost::asio::cancellation_signal& signal, Done done) {
    boost::asio::co_spawn(executor, started(std::move(task)),
                          boost::asio::bind_cancellation_slot(signal.slot(), std::move(done)));
}

// The same for a task that nobody can cancel.
template <class Done>
void spawn(const Executor& executor, Task<> task, Done done) {
    boost::asio::co_spawn(executor, started(std::move(task)), std::move(done));
}

}  // namespace oyat::detail
