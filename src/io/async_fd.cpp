#include "io/async_fd.hpp"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/throwing.hpp"
#include "io/cancel.hpp"

namespace oyat {

namespace asio = boost::asio;

struct AsyncFd::Impl {
    asio::posix::stream_descriptor descriptor;

    static Task<> wait(std::shared_ptr<Impl> impl, asio::posix::descriptor_base::wait_type what) {
        if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
            throw canceled();
        }
        boost::system::error_code error;
        if (impl->descriptor.is_open()) {
            co_await impl->descriptor.async_wait(what, asio::redirect_error(asio::use_awaitable, error));
        }
        if (!impl->descriptor.is_open()) throw Error{Errc::unavailable, "closed"};
        if (error == asio::error::operation_aborted) throw canceled();
        if (error) throw errno_error(error.value(), "wait for a descriptor");
    }
};

AsyncFd::AsyncFd(Executor executor, Fd fd) {
    const int flags = sys(::fcntl(fd.get(), F_GETFL), "read flags of a descriptor");
    if ((flags & O_NONBLOCK) == 0) {
        sys(::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK), "set a descriptor non-blocking");
    }
    impl_ = std::make_shared<Impl>(asio::posix::stream_descriptor{executor});
    boost::system::error_code error;
    impl_->descriptor.assign(fd.get(), error);
    if (error) throw errno_error(error.value(), "poll a descriptor");
    (void)fd.release();
}

AsyncFd::AsyncFd(AsyncFd&&) noexcept = default;

AsyncFd& AsyncFd::operator=(AsyncFd&& other) noexcept {
    close();
    impl_ = std::move(other.impl_);
    return *this;
}

AsyncFd::~AsyncFd() {
    close();
}

int AsyncFd::get() const noexcept {
    return impl_ && impl_->descriptor.is_open() ? impl_->descriptor.native_handle() : -1;
}

Executor AsyncFd::executor() const {
    return impl_->descriptor.get_executor();
}

Task<> AsyncFd::readable() {
    return Impl::wait(impl_, asio::posix::descriptor_base::wait_read);
}

Task<> AsyncFd::writable() {
    return Impl::wait(impl_, asio::posix::descriptor_base::wait_write);
}

void AsyncFd::close() noexcept {
    if (!impl_) return;
    boost::system::error_code ignored;
    impl_->descriptor.close(ignored);
}

Fd AsyncFd::release() {
    return Fd{impl_->descriptor.release()};
}

namespace {

Fd duplicate(int fd) {
    return Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "duplicate a descriptor")};
}

}  // namespace

Task<> wait_readable(int fd) {
    AsyncFd copy{co_await asio::this_coro::executor, duplicate(fd)};
    co_await copy.readable();
}

Task<> wait_writable(int fd) {
    AsyncFd copy{co_await asio::this_coro::executor, duplicate(fd)};
    co_await copy.writable();
}

}  // namespace oyat
