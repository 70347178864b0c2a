#include "io/task_group.hpp"

#include <list>
#include <utility>

#include "base/log.hpp"
#include "io/condition.hpp"
#include "io/spawn.hpp"

namespace oyat {
namespace {

void log_error(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        log::error("task failed", {{"error", e.what()}});
    }
}

}  // namespace

struct TaskGroup::State {
    Executor executor;
    OnError on_error;
    bool closed = false;
    std::list<boost::asio::cancellation_signal> running;
    Condition idle;
};

TaskGroup::TaskGroup(Executor executor, OnError on_error) : state_{std::make_shared<State>()} {
    state_->executor = std::move(executor);
    state_->on_error = on_error ? std::move(on_error) : log_error;
}

TaskGroup::~TaskGroup() {
    cancel();
    state_->on_error = log_error;  // the owner's may refer to the owner
}

void TaskGroup::spawn(Task<> task) {
    if (state_->closed) return;
    const auto self = state_->running.emplace(state_->running.end());
    detail::spawn(state_->executor, std::move(task), *self,
                  [state = state_, self](const std::exception_ptr& error) {
                      state->running.erase(self);
                      if (state->running.empty()) state->idle.notify_all();
                      if (error && !is_canceled(error)) state->on_error(error);
                  });
}

void TaskGroup::cancel() {
    state_->closed = true;
    for (auto& signal : state_->running) signal.emit(boost::asio::cancellation_type::terminal);
}

Task<> TaskGroup::close() {
    const std::shared_ptr<State> state = state_;
    cancel();
    while (!state->running.empty()) co_await state->idle.wait_uncanceled();
}

Task<> TaskGroup::wait_idle() {
    const std::shared_ptr<State> state = state_;
    while (!state->running.empty()) co_await state->idle.wait();
}

std::size_t TaskGroup::size() const noexcept {
    return state_->running.size();
}

Executor TaskGroup::executor() const {
    return state_->executor;
}

}  // namespace oyat
