#include "io/race.hpp"

#include <deque>
#include <exception>

#include "base/assert.hpp"
#include "io/condition.hpp"
#include "io/spawn.hpp"

namespace oyat {

namespace asio = boost::asio;

Task<std::size_t> race(std::vector<Task<>> tasks) {
    OYAT_ASSERT(!tasks.empty());
    struct State {
        std::deque<asio::cancellation_signal> signals;
        std::size_t running = 0;
        std::optional<std::size_t> winner;
        std::exception_ptr error;
        Condition changed;

        void cancel_all() {
            for (auto& signal : signals) signal.emit(asio::cancellation_type::terminal);
        }
    } state;

    const Executor executor = co_await asio::this_coro::executor;
    state.running = tasks.size();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        detail::spawn(executor, std::move(tasks[i]), state.signals.emplace_back(),
                      [&state, i](const std::exception_ptr& error) {
                          --state.running;
                          if (!state.winner) {
                              state.winner = i;
                              state.error = error;
                          }
                          state.changed.notify_all();
                      });
    }

    bool caller_canceled = false;
    try {
        while (!state.winner) co_await state.changed.wait();
    } catch (const Error&) {
        caller_canceled = true;
    }
    // The frame owns what the tasks refer to, so all must have ended before it may go.
    state.cancel_all();
    while (state.running > 0) co_await state.changed.wait_uncanceled();
    if (state.error) {
        if (caller_canceled) throw canceled();
        std::rethrow_exception(state.error);
    }
    co_return *state.winner;
}

Task<> shielded(Task<> task) {
    struct State {
        bool done = false;
        std::exception_ptr error;
        Condition changed;
    } state;

    detail::spawn(co_await asio::this_coro::executor, std::move(task),
                  [&state](const std::exception_ptr& error) {
                      state.done = true;
                      state.error = error;
                      state.changed.notify_all();
                  });
    while (!state.done) co_await state.changed.wait_uncanceled();
    if (state.error) std::rethrow_exception(state.error);
}

}  // namespace oyat
