#include "io/post.hpp"

#include <boost/asio/post.hpp>

namespace oyat {

void post(const Executor& executor, std::move_only_function<void()> function) {
    boost::asio::post(executor, std::move(function));
}

}  // namespace oyat
