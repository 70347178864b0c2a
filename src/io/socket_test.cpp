#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/throwing.hpp"
#include "io/acceptor.hpp"
#include "io/async_fd.hpp"
#include "io/connect.hpp"
#include "io/datagram.hpp"
#include "io/listen.hpp"
#include "io/loop.hpp"
#include "io/run.hpp"
#include "io/stream.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

using namespace std::chrono_literals;

struct Pair {
    std::unique_ptr<Stream> a;
    std::unique_ptr<Stream> b;
};

Task<Pair> stream_pair() {
    std::array<int, 2> fds{};
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), "make a socket pair");
    const Executor executor = co_await boost::asio::this_coro::executor;
    co_return Pair{make_stream(executor, Fd{fds[0]}), make_stream(executor, Fd{fds[1]})};
}

Task<std::string> read_to_end(Stream& stream) {
    std::string all;
    std::array<char, 65536> buffer;
    while (const std::size_t got = co_await stream.read_some(buffer)) all.append(buffer.data(), got);
    co_return all;
}

Task<> write_then_end(Stream& stream, std::string bytes, std::size_t times) {
    std::array<std::string_view, 40> parts;  // more than one system call takes
    parts.fill(bytes);
    for (std::size_t i = 0; i < times; ++i) co_await stream.write_parts(parts);
    stream.shutdown_write();
}

Task<> move_much() {
    Pair pair = co_await stream_pair();
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(write_then_end(*pair.a, std::string(10'000, 'x'), 20));
    const std::string all = co_await read_to_end(*pair.b);
    EXPECT_EQ(all, std::string(10'000 * 40 * 20, 'x'));
    co_await group.close();
}

TEST(Stream, CarriesMoreThanTheKernelBuffers) {
    run(move_much());
}

Task<Errc> read_error(Stream& stream) {
    std::array<char, 16> buffer;
    try {
        co_await stream.read_some(buffer);
    } catch (const Error& e) {
        co_return e.code();
    }
    co_return Errc::internal;
}

Task<> close_under_reader() {
    Pair pair = co_await stream_pair();
    std::optional<Errc> code;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(store_in(code, read_error(*pair.a)));
    co_await yield_now();
    co_await yield_now();
    pair.a->close();
    co_await group.wait_idle();
    EXPECT_EQ(code, Errc::unavailable);
    EXPECT_EQ(co_await read_error(*pair.a), Errc::unavailable);
}

TEST(Stream, CloseEndsAPendingRead) {
    run(close_under_reader());
}

Task<> cancel_reader() {
    Pair pair = co_await stream_pair();
    std::optional<Errc> code;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(store_in(code, read_error(*pair.a)));
    co_await sleep_for(1ms);
    co_await group.close();
    EXPECT_EQ(code, Errc::canceled);
}

TEST(Stream, APendingReadCanBeCanceled) {
    run(cancel_reader());
}

Task<> write_to_nobody() {
    Pair pair = co_await stream_pair();
    pair.b.reset();
    try {
        co_await pair.a->write_all("x");
        ADD_FAILURE() << "written";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
    }
}

TEST(Stream, WritingToAGonePeerIsAnErrorAndNoSignal) {
    run(write_to_nobody());
}

Task<> serve_one(Acceptor& acceptor, std::string& peer) {
    Acceptor::Connection connection = co_await acceptor.accept();
    peer = connection.peer.host();
    auto stream = make_stream(co_await boost::asio::this_coro::executor, std::move(connection.socket));
    co_await stream->write_all("hello");
}

Task<> greet(SocketAddress address, Fd listener, std::string expected_peer) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Acceptor acceptor{executor, std::move(listener)};
    if (address.family() != AF_UNIX) address = local_address(acceptor.native_fd());
    std::string peer;
    TaskGroup group{executor};
    group.spawn(serve_one(acceptor, peer));
    auto stream = make_stream(executor, co_await connect(address, 5s));
    EXPECT_EQ(co_await read_to_end(*stream), "hello");
    EXPECT_EQ(peer, expected_peer);
    acceptor.close();
    co_await group.close();
    EXPECT_THROW(co_await connect(address, 5s), Error) << "nobody listens any more";
}

TEST(Acceptor, TakesConnectionsOverIpv4) {
    const SocketAddress address = or_throw(SocketAddress::ip("127.0.0.1", 0));
    run(greet(address, listen_tcp(address), "127.0.0.1"));
}

TEST(Acceptor, TakesConnectionsOverUnixSockets) {
    std::string directory = ::testing::TempDir() + "oyatXXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string path = directory + "/s";
    const SocketAddress address = or_throw(SocketAddress::unix_path(path));
    for (const unsigned mode : {0600u, 0660u}) {  // the second time over an abandoned file
        Fd listener = listen_unix(path, mode);
        struct stat info{};
        ASSERT_EQ(::stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, mode);
        run(greet(address, std::move(listener), "unix"));
    }
    const Fd living = listen_unix(path, 0600);
    EXPECT_THROW((void)listen_unix(path, 0600), Error) << "somebody listens";
    ::unlink(path.c_str());
    ::rmdir(directory.c_str());
}

TEST(SocketAddress, ReadsWhatItPrints) {
    EXPECT_EQ(or_throw(SocketAddress::ip("127.0.0.1", 80)).to_string(), "127.0.0.1:80");
    EXPECT_EQ(or_throw(SocketAddress::ip("::1", 80)).to_string(), "[::1]:80");
    EXPECT_EQ(or_throw(SocketAddress::ip("::ffff:10.0.0.1", 80)).host(), "10.0.0.1");
    for (const char* bad : {"", "localhost", "1.2.3", "::g", "127.0.0.1 "}) {
        EXPECT_FALSE(SocketAddress::ip(bad, 1)) << bad;
    }
    EXPECT_FALSE(SocketAddress::unix_path(std::string(108, 'x')));
}

Task<> ask_and_answer() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    const auto bound = [](const char* host) {
        Fd fd{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket")};
        const SocketAddress address = or_throw(SocketAddress::ip(host, 0));
        sys(::bind(fd.get(), address.data(), address.size()), "bind");
        return fd;
    };
    Fd wildcard = bound("0.0.0.0");
    const std::uint16_t port = local_address(wildcard.get()).port();
    DatagramSocket server{executor, std::move(wildcard)};
    DatagramSocket client{executor, bound("127.0.0.1")};
    // The whole of 127/8 is local: the answer must come from the address that was asked.
    const SocketAddress asked = or_throw(SocketAddress::ip("127.0.0.53", port));
    client.send_to("question", asked);
    std::array<char, 512> buffer;
    const auto question = co_await server.recv_from(buffer);
    EXPECT_EQ(std::string(buffer.data(), question.size), "question");
    EXPECT_EQ(question.to, asked);
    server.send_to("answer", question.from, question.to);
    const auto answer = co_await client.recv_from(buffer);
    EXPECT_EQ(std::string(buffer.data(), answer.size), "answer");
    EXPECT_EQ(answer.from, asked);
}

TEST(DatagramSocket, AnswersFromTheAddressThatWasAsked) {
    run(ask_and_answer());
}

Task<> wait_for_pipe() {
    std::array<int, 2> fds{};
    sys(::pipe2(fds.data(), O_CLOEXEC), "make a pipe");
    const Fd read_end{fds[0]};
    Fd write_end{fds[1]};
    bool ready = false;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn([](int fd, bool& flag) -> Task<> {
        co_await wait_readable(fd);
        flag = true;
    }(read_end.get(), ready));
    co_await sleep_for(1ms);
    EXPECT_FALSE(ready);
    write_end.reset();  // the end of the stream counts as readable
    co_await group.wait_idle();
    EXPECT_TRUE(ready);
}

TEST(WaitReadable, WaitsOnADescriptorOfSomebodyElse) {
    run(wait_for_pipe());
}

Task<> signal_self() {
    std::optional<int> received;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(store_in(received, wait_signal({SIGUSR1, SIGUSR2})));
    co_await sleep_for(1ms);
    ::raise(SIGUSR2);
    co_await group.wait_idle();
    EXPECT_EQ(received, SIGUSR2);
}

TEST(WaitSignal, TellsWhichOneCame) {
    run(signal_self());
}

}  // namespace
}  // namespace oyat
