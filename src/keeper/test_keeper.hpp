#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "keeper/test_client.hpp"

// A real oyat-keeper with a state of its own. For tests only.
namespace oyat::keeper::test {

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
        std::vector<std::string> words{
            program("oyat-keeper"), "--state=" + dir, "--run=" + dir + "/run",
            "--templates=" + dir + "/templates", "--agent=" + program("oyat-agent"),
            // A trial of gVisor takes longer than most tests.
            "--runsc=" + dir + "/none", "--kernel=" + dir + "/none", "--oyatd-user=65534", "--ready-fd=3"};
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

    // Between two runs, with no box: the store is of this kind from the next one on.
    void take_store(const std::string& kind) const {
        std::filesystem::remove(dir + "/keeper/store.btrfs");
        std::ofstream{dir + "/keeper/store.kind"} << kind;
    }
    // Between two runs: as if the machine had been started anew meanwhile.
    void pretend_another_boot(const std::string& box) const {
        const std::string path = dir + "/keeper/records/" + box;
        std::ifstream from{path, std::ios::binary};
        std::string record{std::istreambuf_iterator<char>{from}, {}};
        const std::string boot = output_of("cat /proc/sys/kernel/random/boot_id");
        record.replace(record.find(boot), boot.size(), boot.size(), 'f');
        std::ofstream{path, std::ios::binary} << record;
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

class KeeperProcessTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        if (::access(program("oyat-keeper").c_str(), X_OK) != 0 ||
            ::access(program("oyat-agent").c_str(), X_OK) != 0) {
            GTEST_SKIP() << "oyat-keeper and oyat-agent are not built";
        }
        keeper = std::make_unique<KeeperProcess>();
    }

    // The hello of an agent, or "" when it does not come.
    static std::string hello(const Fd& stream) {
        pollfd wait{stream.get(), POLLIN, 0};
        if (::poll(&wait, 1, 5000) != 1) return {};
        std::string bytes(64, '\0');
        bytes.resize(
            static_cast<std::size_t>(std::max<ssize_t>(0, ::read(stream.get(), bytes.data(), bytes.size()))));
        return bytes;
    }
    // By poll: a signal also reaches the dead whom nobody has reaped.
    static bool alive(const Fd& pidfd) {
        pollfd end{pidfd.get(), POLLIN, 0};
        return ::poll(&end, 1, 0) == 0;
    }

    std::unique_ptr<KeeperProcess> keeper;
};

}  // namespace oyat::keeper::test
