#include "io/framed_stream.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include "base/throwing.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

namespace oyat {
namespace {

struct Pair {
    explicit Pair(const Executor& executor) {
        int fds[2];
        sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "socketpair");
        a = make_stream(executor, Fd{fds[0]});
        b = make_stream(executor, Fd{fds[1]});
    }
    std::unique_ptr<Stream> a, b;
};

void with_pair(Task<> (*body)(Stream&, Stream&)) {
    Loop loop;
    Pair pair{loop.executor()};
    loop.run(body(*pair.a, *pair.b));
}

TEST(FramedStream, BringsFramesOverInOrder) {
    with_pair([](Stream& a, Stream& b) -> Task<> {
        FramedStream out{a}, in{b};
        co_await out.write('o', "hello");
        co_await out.write('e', "");
        a.shutdown_write();
        const auto first = co_await in.read();
        EXPECT_EQ(first->kind, 'o');
        EXPECT_EQ(first->bytes, "hello");
        EXPECT_EQ((co_await in.read())->kind, 'e');
        EXPECT_FALSE(co_await in.read());
    });
}

TEST(FramedStream, CutsLongBytesIntoFrames) {
    with_pair([](Stream& a, Stream& b) -> Task<> {
        const std::string bytes(FramedStream::kMaxFrame + 5, 'x');
        TaskGroup group{co_await boost::asio::this_coro::executor};
        FramedStream out{a}, in{b};
        group.spawn(out.write('o', bytes));
        EXPECT_EQ((co_await in.read())->bytes.size(), FramedStream::kMaxFrame);
        EXPECT_EQ((co_await in.read())->bytes.size(), 5u);
        co_await group.close();
    });
}

TEST(FramedStream, RefusesFramesThatAreTooLongAndStreamsThatAreCut) {
    with_pair([](Stream& a, Stream& b) -> Task<> {
        FramedStream in{b};
        co_await a.write_all(std::string_view{"o\xFF\xFF\xFF\xFF", 5});
        Errc code{};
        try {
            co_await in.read();
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::invalid_argument);
        co_await a.write_all(std::string_view{"o\0\0\0\5abc", 8});
        a.shutdown_write();
        try {
            co_await in.read();
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::unavailable);
    });
}

}  // namespace
}  // namespace oyat
