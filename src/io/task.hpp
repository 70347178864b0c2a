#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace oyat {

// A coroutine. It reads like blocking code; `co_await` marks every point at which the world may change under
// you.
template <class T = void>
using Task = boost::asio::awaitable<T>;

using Executor = boost::asio::any_io_executor;

}  // namespace oyat
