#include "io/worker_pool.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace oyat {

namespace asio = boost::asio;

struct WorkerPool::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::move_only_function<void()>> queue;
    std::size_t max_queued = 0;
    bool stopping = false;
    std::vector<std::jthread> threads;

    void push(std::move_only_function<void()> job) {
        {
            const std::lock_guard lock{mutex};
            queue.push_back(std::move(job));
        }
        changed.notify_one();
    }

    [[nodiscard]] bool full() {
        const std::lock_guard lock{mutex};
        return queue.size() >= max_queued;
    }

    void work() {
        for (;;) {
            std::move_only_function<void()> job;
            {
                std::unique_lock lock{mutex};
                changed.wait(lock, [this] { return stopping || !queue.empty(); });
                if (queue.empty()) return;
                job = std::move(queue.front());
                queue.pop_front();
            }
            job();
        }
    }
};

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_queued) : state_{std::make_unique<State>()} {
    state_->max_queued = max_queued;
    for (std::size_t i = 0; i < threads; ++i)
        state_->threads.emplace_back([state = state_.get()] { state->work(); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock{state_->mutex};
        state_->stopping = true;
    }
    state_->changed.notify_all();
    state_->threads.clear();  // joins
}

Task<> WorkerPool::run(std::move_only_function<void()> call) {
    if (state_->full()) throw Error{Errc::exhausted, "too many blocking calls wait for a thread"};
    std::exception_ptr error;
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        [this, &call, &error](auto handler) {
            const Executor home = asio::get_associated_executor(handler);
            state_->push([&call, &error, home, handler = std::move(handler)]() mutable {
                try {
                    call();
                } catch (...) {
                    error = std::current_exception();
                }
                asio::post(home, std::move(handler));
            });
        },
        asio::use_awaitable);
    if (error) std::rethrow_exception(error);
}

}  // namespace oyat
