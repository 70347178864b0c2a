#pragma once

#include <utility>

namespace oyat {

// Runs one action when the scope ends, unless dismissed: one-off undoing beside what it undoes.
template <class F>
class Defer {
public:
    explicit Defer(F action) : action_{std::move(action)} {}
    Defer(const Defer&) = delete;
    Defer& operator=(const Defer&) = delete;
    ~Defer() {
        if (armed_) action_();
    }
    void dismiss() noexcept { armed_ = false; }

private:
    F action_;
    bool armed_ = true;
};

}  // namespace oyat
