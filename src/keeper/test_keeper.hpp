#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "wire/keeper_messages.hpp"

// A real oyat-keeper with a state of its own, and somebody who speaks to it as oyatd would. For tests only.
namespace oyat::keeper::test {

struct Answer {
    wire::KeeperReply reply;
    std::vector<Fd> fds;
};

class Client {
public:
    explicit Client(const std::string& path) : socket_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)} {
        sockaddr_un address{.sun_family = AF_UNIX};
        std::ranges::copy(path, address.sun_path);
        sys(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
    }

    // Sends the request and waits for its answer; events that come first are kept.
    Answer ask(wire::KeeperRequest request, const std::vector<int>& fds = {}) {
        request.id = ++last_id_;
        send(wire::encode(request), fds);
        for (;;) {
            Answer answer = receive();
            if (answer.reply.id == request.id) return answer;
            if (answer.reply.event) events.push_back(*answer.reply.event);
        }
    }

    // Waits until an event of that kind has come.
    wire::KeeperEvent wait_for(wire::EventKind kind) {
        for (;;) {
            const auto found = std::ranges::find(events, kind, &wire::KeeperEvent::kind);
            if (found != events.end()) return *found;
            Answer answer = receive();
            if (answer.reply.event) events.push_back(*answer.reply.event);
        }
    }

    void send(const std::string& bytes, const std::vector<int>& fds = {}) {
        iovec part{const_cast<char*>(bytes.data()), bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        std::vector<char> space(CMSG_SPACE(fds.size() * sizeof(int)));
        if (!fds.empty()) {
            message.msg_control = space.data();
            message.msg_controllen = space.size();
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
        }
        sys(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL), "send");
    }

    // Throws `unavailable` when the keeper has closed the connection.
    Answer receive() {
        std::string buffer(wire::kMaxKeeperPacket, '\0');
        std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxKeeperFds)> space{};
        iovec part{buffer.data(), buffer.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = space.data();
        message.msg_controllen = space.size();
        pollfd wait{socket_.get(), POLLIN, 0};
        if (::poll(&wait, 1, 20'000) != 1) throw Error{Errc::deadline, "the keeper does not answer"};
        const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
        if (n <= 0) throw Error{Errc::unavailable, "the keeper closed the connection"};
        Answer answer;
        answer.reply =
            or_throw(wire::decode<wire::KeeperReply>({buffer.data(), static_cast<std::size_t>(n)}));
        for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
             header = CMSG_NXTHDR(&message, header)) {
            const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t at = 0; at < count; ++at) {
                int fd = -1;
                std::memcpy(&fd, CMSG_DATA(header) + (at * sizeof fd), sizeof fd);
                answer.fds.emplace_back(fd);
            }
        }
        return answer;
    }

    std::vector<wire::KeeperEvent> events;

private:
    Fd socket_;
    std::uint64_t last_id_ = 0;
};

inline wire::KeeperRequest create_order(const std::string& digest, wire::BoxLimits limits = {}) {
    return {.create = wire::CreateBox{.template_digest = digest, .limits = limits, .owner_tag = "test"}};
}
inline wire::KeeperRequest kill_order(const std::string& id) {
    return {.kill = wire::KillBox{.id = id}};
}
inline wire::KeeperRequest info_order() {
    return {.info = wire::GetInfo{}};
}

inline std::string program(const char* name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

// Waits for a process of ours.
inline int wait_status(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

inline std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> part;
    while (const std::size_t n = ::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
    const int status = ::pclose(pipe);
    if (status != 0) throw Error{Errc::internal, command + " failed"};
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

// One state directory with its keeper, started and ended as a test wants. The template is an empty tree: the
// agent needs no file of it.
class KeeperProcess {
public:
    KeeperProcess() {
        for (const char* each : {"/image", "/image/etc", "/image/tmp", "/templates"}) {
            std::filesystem::create_directory(dir + each);
        }
        digest = output_of("tar -C " + dir + "/image -c . | " + program("oyat-keeper") +
                           " import-template --name empty --templates " + dir + "/templates");
    }
    KeeperProcess(const KeeperProcess&) = delete;
    KeeperProcess& operator=(const KeeperProcess&) = delete;
    ~KeeperProcess() {
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            wait_status(pid);
            pid = -1;
        }
        // Whatever the test left: an ephemeral keeper takes it along.
        start({"--ephemeral"});
        stop();
        // Their append-only attribute would keep them.
        for (const auto& entry : std::filesystem::directory_iterator{dir + "/audit"}) {
            const Fd file{::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC)};
            int none = 0;
            ::ioctl(file.get(), FS_IOC_SETFLAGS, &none);
        }
        std::filesystem::remove_all(dir);
    }

    void start(const std::vector<std::string>& more = {}) {
        std::array<int, 2> ready{};
        sys(::pipe2(ready.data(), O_CLOEXEC), "pipe");
        const Fd reader{ready[0]};
        Fd writer{ready[1]};
        std::vector<std::string> words{program("oyat-keeper"),
                                       "--state=" + dir,
                                       "--run=" + dir + "/run",
                                       "--templates=" + dir + "/templates",
                                       "--agent=" + program("oyat-agent"),
                                       "--oyatd-user=65534",
                                       "--ready-fd=3"};
        words.insert(words.end(), more.begin(), more.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        pid = sys(::fork(), "fork");
        if (pid == 0) {
            const int log = ::open((dir + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            ::dup2(log, 2);
            ::dup2(writer.get(), 3);
            ::close(log);
            ::execv(argv[0], argv.data());
            ::_exit(127);
        }
        writer.reset();
        char line[8];
        pollfd wait{reader.get(), POLLIN, 0};
        if (::poll(&wait, 1, 30'000) != 1 || ::read(reader.get(), line, sizeof line) <= 0) {
            throw Error{Errc::internal, "the keeper did not start: " + log()};
        }
    }

    // SIGTERM, and the end.
    int stop() {
        ::kill(pid, SIGTERM);
        return wait_status(std::exchange(pid, -1));
    }
    void kill_hard() {
        ::kill(pid, SIGKILL);
        wait_status(std::exchange(pid, -1));
    }

    [[nodiscard]] Client client() const { return Client{dir + "/run/keeper.sock"}; }
    [[nodiscard]] std::string state_id() const { return output_of("cat " + dir + "/keeper/id"); }
    [[nodiscard]] std::string log() const { return output_of("cat " + dir + "/log"); }

    // Outlives the keeper, and goes also when the rest can't be made.
    struct Directory {
        Directory() {
            std::string name = "/tmp/oyat-keeper-XXXXXX";
            path = ::mkdtemp(name.data());
        }
        ~Directory() { std::filesystem::remove_all(path); }
        Directory(const Directory&) = delete;
        Directory& operator=(const Directory&) = delete;
        std::string path;
    };

    const Directory directory;
    const std::string& dir = directory.path;
    std::string digest;
    pid_t pid = -1;
};

// What the kernel and the file system show of a state, for comparison: control groups, mounts of any process,
// loop devices, and what lies in the run directory.
inline std::set<std::string> traces_of(const KeeperProcess& keeper) {
    std::set<std::string> traces;
    const std::string mark = "oyat-" + keeper.state_id();
    std::error_code error;
    for (auto walk = std::filesystem::recursive_directory_iterator{"/sys/fs/cgroup", error};
         walk != std::filesystem::recursive_directory_iterator{}; walk.increment(error)) {
        if (walk->path().filename() == mark) traces.insert("cgroup " + walk->path().string());
    }
    for (const auto& process : std::filesystem::directory_iterator{"/proc"}) {
        std::ifstream mounts{process.path() / "mountinfo"};
        for (std::string line; std::getline(mounts, line);) {
            if (line.contains(keeper.dir)) traces.insert("mount " + line);
        }
        // The dead of a killed keeper are init's to reap.
        std::ifstream status{process.path() / "stat"};
        std::string stat;
        std::getline(status, stat);
        if (stat.contains(") Z ")) continue;
        std::ifstream groups{process.path() / "cgroup"};
        for (std::string line; std::getline(groups, line);) {
            if (line.contains(mark)) traces.insert("process " + process.path().string());
        }
    }
    for (const auto& device : std::filesystem::directory_iterator{"/sys/block"}) {
        std::ifstream backing{device.path() / "loop/backing_file"};
        std::string file;
        if (std::getline(backing, file) && file.starts_with(keeper.dir)) traces.insert("loop " + file);
    }
    for (const auto& entry : std::filesystem::directory_iterator{keeper.dir + "/run", error}) {
        traces.insert("run " + entry.path().string());
    }
    return traces;
}

}  // namespace oyat::keeper::test
