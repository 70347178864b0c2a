#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/test_host.hpp"

namespace oyat::agent::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{20};

std::string make_cgroup() {
    for (const char* root : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
        if (!std::filesystem::exists(std::string{root} + "/cgroup.procs")) continue;
        static int count = 0;
        const std::string path = std::string{root} + "/oyat-agent-test-" + std::to_string(::getpid()) + "-" +
                                 std::to_string(count++);
        if (::mkdir(path.c_str(), 0755) == 0) return path;
    }
    return {};
}

}  // namespace

RunningAgent::RunningAgent(Cgroup cgroup, const Surroundings& surroundings) {
    char pattern[] = "/tmp/oyat-agent-test-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    ::chmod(directory_.c_str(), 0755);
    if (cgroup == Cgroup::if_possible) cgroup_ = make_cgroup();
    const std::string socket = directory_ + "/socket";
    const Fd group{cgroup_.empty() ? -1 : ::open(cgroup_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves no agent behind
        if (surroundings.in_child) surroundings.in_child();
        if (group.get() == 4) ::fcntl(4, F_SETFD, 0);
        if (!group) ::close(4);
        if (group && group.get() != 4) ::dup2(group.get(), 4);
        ::execl(OYAT_AGENT_PROGRAM, "oyat-agent", "--generation=7", "--listen", socket.c_str(), nullptr);
        ::_exit(126);
    }
    if (surroundings.in_parent) surroundings.in_parent(pid_);
    for (const auto start = Clock::now(); !connect() && Clock::now() - start < kPatience;) ::usleep(1000);
}

RunningAgent::~RunningAgent() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    if (!cgroup_.empty()) {
        std::ofstream{cgroup_ + "/cgroup.kill"} << "1";
        for (int tries = 0; tries < 1000; ++tries) {
            for (const auto& entry : std::filesystem::directory_iterator{cgroup_}) {
                if (entry.is_directory()) ::rmdir(entry.path().c_str());
            }
            if (::rmdir(cgroup_.c_str()) == 0) break;
            ::usleep(2000);
        }
    }
    std::filesystem::remove_all(directory_);
}

Fd RunningAgent::connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ + "/socket";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
    return socket;
}

std::uint64_t RunningAgent::rss_kib() const {
    std::ifstream status{"/proc/" + std::to_string(pid_) + "/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
    }
    return 0;
}

std::optional<wire::Started> Heard::started() const {
    for (const std::string& event : events) {
        if (const auto decoded = wire::decode<wire::ProcessEvent>(event); decoded && decoded->started) {
            return decoded->started;
        }
    }
    return std::nullopt;
}

std::optional<wire::Exited> Heard::exited() const {
    for (const std::string& event : events) {
        if (const auto decoded = wire::decode<wire::ProcessEvent>(event); decoded && decoded->exited) {
            return decoded->exited;
        }
    }
    return std::nullopt;
}

std::vector<wire::FileEntry> Heard::entries() const {
    std::vector<wire::FileEntry> all;
    for (const std::string& event : events) {
        const auto decoded = wire::decode<wire::FileEntries>(event);
        if (!decoded) continue;
        all.insert(all.end(), decoded->entries.begin(), decoded->entries.end());
    }
    return all;
}

const std::vector<wire::WatchChange>& Heard::changes() {
    for (; changes_from_ < events.size(); ++changes_from_) {
        const auto decoded = wire::decode<wire::WatchEvents>(events[changes_from_]);
        if (decoded) changes_.insert(changes_.end(), decoded->changes.begin(), decoded->changes.end());
    }
    return changes_;
}

TestHost::TestHost(Fd socket) : socket_{std::move(socket)} {
    until([&] { return greeted_; });
}

std::uint32_t TestHost::open(const wire::Request& request) {
    send(wire::FrameKind::request, next_, wire::ChannelId::none, wire::encode(request));
    return next_++;
}

void TestHost::send(wire::FrameKind kind, std::uint32_t stream, wire::ChannelId channel,
                    std::string_view payload) {
    std::string bytes;
    wire::append_frame(bytes, kind, stream, channel, payload);
    send_raw(bytes);
}

void TestHost::send_raw(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;  // what the agent said before it hung up is still to be read
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void TestHost::send_until_blocked(std::string_view bytes, std::size_t most) {
    std::size_t total = 0;
    std::string_view rest = bytes;
    while (total < most) {
        pollfd wait{.fd = socket_.get(), .events = POLLOUT};
        if (::poll(&wait, 1, 500) == 0) return;
        const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) continue;
        total += static_cast<std::size_t>(sent);
        rest.remove_prefix(static_cast<std::size_t>(sent));
        if (rest.empty()) rest = bytes;
    }
    ADD_FAILURE() << "the agent takes everything";
}

void TestHost::credit(std::uint32_t stream, std::uint32_t bytes) {
    send(wire::FrameKind::credit, stream, wire::ChannelId::none, wire::credit_payload(bytes));
}

void TestHost::until(const std::function<bool()>& condition) {
    const auto start = Clock::now();
    while (!condition()) {
        if (closed_ || Clock::now() - start > kPatience) {
            ADD_FAILURE() << (closed_ ? "the agent hung up" : "waited in vain");
            return;
        }
        step(100);
    }
}

bool TestHost::step(int timeout_ms) {
    Result<std::optional<wire::Frame>> frame = parser_.next();
    if (frame && *frame) {
        take(**frame);
        return true;
    }
    EXPECT_TRUE(frame) << "the agent sent what is no frame";
    pollfd wait{.fd = socket_.get(), .events = POLLIN};
    if (closed_ || ::poll(&wait, 1, timeout_ms) <= 0) return false;
    char buffer[64 * 1024];
    const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (got <= 0) {
        closed_ = true;
        return false;
    }
    parser_.feed({buffer, static_cast<std::size_t>(got)});
    return true;
}

void TestHost::take(const wire::Frame& frame) {
    using wire::FrameKind;
    Heard& heard = heard_[frame.header.stream];
    switch (frame.header.kind) {
        case FrameKind::hello: {
            const auto hello = wire::decode<wire::Hello>(frame.payload);
            ASSERT_TRUE(hello);
            hello_ = *hello;
            greeted_ = true;
            return;
        }
        case FrameKind::event: heard.events.push_back(frame.payload); break;
        case FrameKind::data:
            heard.bytes += frame.payload.size();
            if (keep_data_) heard.data[frame.header.channel] += frame.payload;
            break;
        case FrameKind::eof: heard.eof = true; break;
        case FrameKind::end: {
            const auto status = wire::decode<wire::Status>(frame.payload);
            ASSERT_TRUE(status);
            EXPECT_FALSE(heard.end) << "a second END on stream " << frame.header.stream;
            heard.end = *status;
            return;
        }
        default: return;
    }
    EXPECT_FALSE(heard.end) << "a frame after END on stream " << frame.header.stream;
    if (credit_ == Credit::at_once && !frame.payload.empty()) {
        credit(frame.header.stream, static_cast<std::uint32_t>(frame.payload.size()));
    }
}

Heard& TestHost::until_end(std::uint32_t stream) {
    until([&] { return heard_[stream].end.has_value(); });
    if (!heard_[stream].end) heard_[stream].end = wire::Status{.code = 999, .message = "no END"};
    return heard_[stream];
}

Heard& TestHost::run(wire::Spawn spawn) {
    wire::Request request;
    request.spawn = std::move(spawn);
    return ask(request);
}

bool TestHost::closed_within(int timeout_ms) {
    const auto start = Clock::now();
    while (!closed_ && Clock::now() - start < std::chrono::milliseconds{timeout_ms}) step(50);
    return closed_;
}

}  // namespace oyat::agent::testing
