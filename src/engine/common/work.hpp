#pragma once

#include <optional>

#include "base/result.hpp"

namespace oyat::engine {

struct Nothing {};

// Something that goes on beside the keeper's loop. Call advance() at once, and then whenever fd() is
// readable.
template <class T>
class Work {
public:
    // Ends what still goes on, and undoes it.
    virtual ~Work() = default;
    [[nodiscard]] virtual int fd() const noexcept = 0;  // -1: done, advance() has the outcome
    // The outcome, once; nothing before.
    [[nodiscard]] virtual std::optional<Result<T>> advance() = 0;
};

// Work that was done before it was asked about.
template <class T>
class Done final : public Work<T> {
public:
    explicit Done(T value) : value_{std::move(value)} {}
    [[nodiscard]] int fd() const noexcept override { return -1; }
    [[nodiscard]] std::optional<Result<T>> advance() override { return std::move(value_); }

private:
    T value_;
};

}  // namespace oyat::engine
