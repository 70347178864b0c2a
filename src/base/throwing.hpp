#pragma once

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/result.hpp"

// The ways into an exception. Not for the agent, which is built without exceptions.
namespace oyat {

// Turns the -1/errno convention into an Error: int n = sys(::read(fd, buf, len), "read manifest");
template <class Int>
Int sys(Int result, std::string_view what) {
    if (result >= 0) return result;
    throw errno_error(errno, what);
}

// Adds "what we were doing" to any Error that passes through: in("create sandbox " + id, [&] { ... });
template <class F>
decltype(auto) in(std::string_view context, F&& body) {
    try {
        return std::forward<F>(body)();
    } catch (Error& e) {
        throw std::move(e).in(context);
    }
}

// Crosses from "an ordinary answer" to "we cannot go on".
template <class T>
T or_throw(Result<T> result) {
    if (!result) throw std::move(result).error();
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace oyat
