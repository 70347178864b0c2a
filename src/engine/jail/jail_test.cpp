#include "engine/jail/jail.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cgroup/parent.hpp"
#include "engine/jail/cpu_shares.hpp"
#include "engine/jail/facts.hpp"
#include "layers/staging.hpp"
#include "netns/netns.hpp"

// A real jail, with this test program itself as pid 1: started under the agent's name, it answers questions
// about what it can do in there. A question is a word on the socket, the answer a line.
namespace oyat::jail {
namespace {

// --- inside
// -------------------------------------------------------------------------------------------------

std::string read_file(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string outcome(long result) {
    return result >= 0 ? "done" : std::strerror(errno);
}

std::string open_descriptors() {
    std::set<int> fds;
    for (int fd = 0; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) fds.insert(fd);
    }
    std::string text;
    for (const int fd : fds) text += std::to_string(fd) + " ";
    return text;
}

// Files of /proc and /sys outside of process directories that let us write: there should be none.
std::string writable_files() {
    std::string found;
    for (const char* top : {"/proc", "/sys"}) {
        auto walk = std::filesystem::recursive_directory_iterator{
            top, std::filesystem::directory_options::skip_permission_denied};
        for (std::error_code error; walk != std::filesystem::recursive_directory_iterator{};
             walk.increment(error)) {
            const std::string path = walk->path();
            const bool of_process = path.starts_with("/proc/") && (std::isdigit(path[6]) != 0);
            if (of_process || walk->is_symlink(error)) {
                walk.disable_recursion_pending();
                continue;
            }
            if (!walk->is_regular_file(error)) continue;
            const Fd file{::open(path.c_str(), O_WRONLY | O_NONBLOCK)};
            if (file) found += path + " ";
        }
    }
    return found;
}

long raw_clone3(std::uint64_t flags) {
    std::array<std::uint64_t, 8> args{flags, 0, 0, 0, SIGCHLD};
    const long pid = ::syscall(SYS_clone3, args.data(), sizeof args);
    if (pid == 0) ::_exit(0);
    return pid;
}

using Answers = std::map<std::string, std::function<std::string()>, std::less<>>;

const Answers& answers() {
    static const Answers all{
        {"ids",
         [] {
             return std::to_string(::getuid()) + " " + std::to_string(::getgid()) + " " +
                    std::to_string(::getpid());
         }},
        {"host-name", [] { return read_file("/proc/sys/kernel/hostname"); }},
        {"hosts", [] { return read_file("/etc/hosts"); }},
        {"descriptors", open_descriptors},
        {"capabilities",
         [] {
             const std::string status = read_file("/proc/self/status");
             const std::size_t at = status.find("CapBnd:\t");
             return status.substr(at + 8, 16);
         }},
        {"mounts", [] { return read_file("/proc/self/mountinfo"); }},
        {"cgroup", [] { return read_file("/proc/self/cgroup"); }},
        {"uptime", [] { return read_file("/proc/uptime"); }},
        {"meminfo", [] { return read_file("/proc/meminfo"); }},
        {"cpus-online", [] { return std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)); }},
        {"cpus-allowed",
         [] {
             cpu_set_t set;
             ::sched_getaffinity(0, sizeof set, &set);
             return std::to_string(CPU_COUNT(&set));
         }},
        {"exe", [] { return std::filesystem::read_symlink("/proc/self/exe").string(); }},
        {"overwrite-exe", [] { return outcome(::open("/proc/self/exe", O_WRONLY)); }},
        {"write-root", [] { return outcome(::open("/written", O_CREAT | O_WRONLY, 0600)); }},
        {"write-dev", [] { return outcome(::open("/dev/written", O_CREAT | O_WRONLY, 0600)); }},
        {"write-null", [] { return outcome(::write(::open("/dev/null", O_WRONLY), "x", 1)); }},
        {"write-shm", [] { return outcome(::open("/dev/shm/x", O_CREAT | O_WRONLY, 0600)); }},
        {"pty", [] { return outcome(::posix_openpt(O_RDWR | O_NOCTTY)); }},
        {"mount", [] { return outcome(::mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
        {"umount", [] { return outcome(::umount2("/proc/meminfo", MNT_DETACH)); }},
        {"unshare", [] { return outcome(::unshare(CLONE_NEWNS)); }},
        {"mknod", [] { return outcome(::mknod("/node", S_IFCHR | 0600, makedev(1, 3))); }},
        {"clone3-user", [] { return outcome(raw_clone3(CLONE_NEWUSER)); }},
        {"clone3-net", [] { return outcome(raw_clone3(CLONE_NEWNET)); }},
        {"clone3-plain", [] { return outcome(raw_clone3(0)); }},
        {"raise-namespaces", [] { return outcome(::open("/proc/sys/user/max_user_namespaces", O_WRONLY)); }},
        {"vsock", [] { return outcome(::socket(AF_VSOCK, SOCK_STREAM, 0)); }},
        {"inet", [] { return outcome(::socket(AF_INET, SOCK_STREAM, 0)); }},
        {"set-host-name", [] { return outcome(::sethostname("x", 1)); }},
        {"double-chroot",
         [] {
             ::mkdir("/cage", 0700);
             const int kept = ::open("/", O_RDONLY | O_DIRECTORY);
             if (::chroot("/cage") != 0 || ::fchdir(kept) != 0) return outcome(-1);
             for (int step = 0; step < 64; ++step) [[maybe_unused]]
                 const int up = ::chdir("..");
             [[maybe_unused]] const int in = ::chroot(".");
             struct stat root{}, up{};
             ::stat("/", &root);
             ::stat("/..", &up);
             return std::string{
                 root.st_ino == up.st_ino && ::access("/proc/self/status", F_OK) == 0 ? "inside" : "out"};
         }},
        {"writable", writable_files},
        {"foreign-groups",
         [] {
             std::string found;
             for (const auto& entry : std::filesystem::recursive_directory_iterator{"/sys/fs/cgroup"}) {
                 const std::string name = entry.path().filename();
                 // The file that only the root of a hierarchy has; and groups below, of which we have none.
                 if (name == "release_agent" ||
                     (entry.is_directory() && entry.path().parent_path() != "/sys/fs/cgroup")) {
                     found += entry.path().string() + " ";
                 }
             }
             return found;
         }},
        {"kernel-command", [] { return read_file("/proc/cmdline"); }},
        {"kcore", [] { return outcome(::open("/proc/kcore", O_RDONLY)); }},
        {"sysrq", [] { return outcome(::open("/proc/sysrq-trigger", O_WRONLY)); }},
    };
    return all;
}

[[noreturn]] void answer_questions() {
    for (;;) {
        const Fd host{::accept4(3, nullptr, nullptr, SOCK_CLOEXEC)};
        std::array<char, 64> word{};
        const ssize_t n = ::read(host.get(), word.data(), word.size());
        if (n <= 0) continue;
        const auto found = answers().find(std::string_view{word.data(), static_cast<std::size_t>(n)});
        const std::string answer = found == answers().end() ? "what?" : found->second();
        [[maybe_unused]] const ssize_t written = ::write(host.get(), answer.data(), answer.size());
    }
}

// --- outside
// ------------------------------------------------------------------------------------------------

// A root tree with just what this program needs to run: its libraries, at the paths where they were found.
void copy_libraries(const std::filesystem::path& root) {
    std::vector<std::string> files{"/etc/ld.so.cache", "/lib64/ld-linux-x86-64.so.2"};
    const auto collect = [](dl_phdr_info* library, std::size_t, void* found) {
        static_cast<std::vector<std::string>*>(found)->emplace_back(library->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(collect, &files);
    for (const std::string& file : files) {
        if (!file.starts_with('/')) continue;  // this program itself, and the kernel's vdso
        const std::filesystem::path copy = root / file.substr(1);
        std::filesystem::create_directories(copy.parent_path());
        std::filesystem::copy_file(file, copy, std::filesystem::copy_options::skip_existing);
    }
    std::filesystem::create_directories(root / "tmp");
}

// One jail for all tests of this file; a test asks it something.
class JailTest : public testing::Test {
protected:
    static constexpr std::uint64_t kMemory = 256 << 20;

    struct World {
        explicit World(const std::string& dir)
            : staging{dir + "/stage"},
              launcher{staging.mount_point("jail"), "/proc/self/exe", hierarchies, "oyat-" + state} {}

        cgroup::Hierarchies hierarchies = cgroup::Hierarchies::probe();
        std::string state = "jailtest" + random_hex(2);
        cgroup::Parent groups{hierarchies, state};
        layers::Staging staging;
        Launcher launcher;
        layers::IdRanges ranges{"/run/oyat-jail-test", state};
        netns::Netns network = netns::Netns::make();
    };

    static void SetUpTestSuite() {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        std::string name = "/tmp/oyat-jail-XXXXXX";
        dir_ = ::mkdtemp(name.data());
        for (const char* each : {"/stage", "/image", "/box", "/box/u", "/box/w"}) {
            std::filesystem::create_directory(dir_ + each);
        }
        copy_libraries(dir_ + "/image");
        world_ = std::make_unique<World>(dir_);
        const layers::IdRange range = world_->ranges.take();
        group_ = world_->groups.create(id_, {.memory_bytes = kMemory, .cpu_millis = 1000, .processes = 64},
                                       range.base);
        const Fd image{::open((dir_ + "/image").c_str(), O_PATH | O_CLOEXEC)};
        const Fd box{::open((dir_ + "/box").c_str(), O_PATH | O_CLOEXEC)};
        const Fd root = world_->staging.make_root(std::array{image.get()}, box.get(), range);
        const Fd door{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const sockaddr_un address = door_address();
        sys(::bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
        sys(::listen(door.get(), 4), "listen");
        const Parts parts{.id = id_,
                          .generation = 7,
                          .range = range,
                          .root = root.get(),
                          .netns = world_->network.fd(),
                          .listener = door.get(),
                          .group = &*group_,
                          .open_files = 1000,
                          .extra_hosts = "10.0.0.9 mirror\n"};
        process_ = world_->launcher.start(parts);
        pin(process_.pid, CpuShares::of_this_process().next(1000));
        write_facts(process_.pid, {.memory_bytes = kMemory, .cpus = 1}, Processors::of_this_machine(),
                    Which::all);
    }

    static void TearDownTestSuite() {
        if (!world_) return;
        kill_process(process_);
        wait_for_end(process_);
        world_->launcher.forget(id_);
        while (!group_->destroy()) ::usleep(1000);
        world_->ranges.release_unused();
        EXPECT_TRUE(world_->groups.remove());
        world_.reset();
        ::umount2((dir_ + "/stage").c_str(), MNT_DETACH);
        std::filesystem::remove_all(dir_);
        std::filesystem::remove_all("/run/oyat-jail-test");
    }

    void SetUp() override {
        if (!world_) GTEST_SKIP() << "needs root";
    }

    static sockaddr_un door_address() {
        sockaddr_un address{.sun_family = AF_UNIX};
        const std::string path = dir_ + "/door";
        std::ranges::copy(path, address.sun_path);
        return address;
    }

    static std::string ask(std::string_view question) {
        const Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const sockaddr_un address = door_address();
        sys(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
        sys(::write(socket.get(), question.data(), question.size()), "ask");
        std::string answer;
        std::array<char, 4096> part;
        for (ssize_t n = 0; (n = ::read(socket.get(), part.data(), part.size())) > 0;) {
            answer.append(part.data(), static_cast<std::size_t>(n));
        }
        return answer;
    }

    static inline std::string dir_;
    static inline const std::string id_ = new_sandbox_id();
    static inline std::unique_ptr<World> world_;
    static inline std::optional<cgroup::Group> group_;
    static inline Process process_;
};

const std::string kDenied = std::strerror(EPERM);
const std::string kReadOnly = std::strerror(EROFS);

TEST_F(JailTest, RunsTheAgentAsRootAndPidOne) {
    EXPECT_EQ(ask("ids"), "0 0 1");
}

TEST_F(JailTest, BearsItsIdAsHostName) {
    EXPECT_EQ(ask("host-name"), id_ + "\n");
    EXPECT_TRUE(ask("hosts").contains("127.0.1.1 " + id_ + "\n10.0.0.9 mirror\n"));
}

TEST_F(JailTest, LeavesNothingOpenButTheListenerAndTheGroup) {
    // 5 or 4 is the connection of the question itself.
    EXPECT_EQ(ask("descriptors"), group_->tree_fd() ? "0 1 2 3 4 5 " : "0 1 2 3 4 ");
}

TEST_F(JailTest, KeepsThirteenCapabilitiesAndNoMore) {
    EXPECT_EQ(ask("capabilities"), "00000000a00425fb");
}

TEST_F(JailTest, ShowsNoPathOfTheHost) {
    EXPECT_FALSE(ask("mounts").contains(dir_));
    EXPECT_EQ(ask("exe"), "/memfd:oyat-agent (deleted)");
    const std::string groups = ask("cgroup");
    EXPECT_FALSE(groups.contains("oyat")) << groups;
    EXPECT_FALSE(groups.contains("..")) << groups;
}

TEST_F(JailTest, CanWriteToItsOwnFilesOnly) {
    EXPECT_EQ(ask("write-root"), "done");
    EXPECT_TRUE(std::filesystem::exists(dir_ + "/box/u/written"));
    EXPECT_EQ(ask("write-null"), "done");
    EXPECT_EQ(ask("write-shm"), "done");
    EXPECT_EQ(ask("pty"), "done");
    EXPECT_EQ(ask("write-dev"), kReadOnly);
    EXPECT_NE(ask("overwrite-exe"), "done");
}

TEST_F(JailTest, StoresFilesWithPlainIds) {
    ASSERT_EQ(ask("write-root"), "done");
    struct stat status{};
    ASSERT_EQ(::stat((dir_ + "/box/u/written").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 0U);
}

TEST_F(JailTest, CanNeitherMountNorMakeNamespacesOrNodes) {
    for (const char* attempt : {"mount", "umount", "unshare", "mknod", "clone3-net", "set-host-name"}) {
        EXPECT_EQ(ask(attempt), kDenied) << attempt;
    }
    EXPECT_EQ(ask("clone3-user"), std::strerror(ENOSPC));
    EXPECT_EQ(ask("clone3-plain"), "done");
    EXPECT_NE(ask("raise-namespaces"), "done");
}

TEST_F(JailTest, CanNotReachTheKernelsOwnFiles) {
    EXPECT_EQ(ask("writable"), "");
    EXPECT_NE(ask("kcore"), "done");
    EXPECT_NE(ask("sysrq"), "done");
}

TEST_F(JailTest, SeesNoControlGroupButItsOwn) {
    EXPECT_EQ(ask("foreign-groups"), "");
}

TEST_F(JailTest, IsNotToldHowTheHostWasBooted) {
    EXPECT_EQ(ask("kernel-command"), "");
}

TEST_F(JailTest, StaysInsideADoubleChroot) {
    EXPECT_EQ(ask("double-chroot"), "inside");
}

TEST_F(JailTest, OpensOrdinarySocketsAndNoOthers) {
    EXPECT_EQ(ask("inet"), "done");
    EXPECT_EQ(ask("vsock"), std::strerror(EAFNOSUPPORT));
}

TEST_F(JailTest, SeesItsOwnSizeAndAge) {
    EXPECT_TRUE(ask("meminfo").starts_with("MemTotal:         262144 kB\n")) << ask("meminfo");
    EXPECT_EQ(ask("cpus-online"), "1");
    EXPECT_EQ(ask("cpus-allowed"), "1");
    if (::access("/proc/self/ns/time", F_OK) == 0) EXPECT_LT(std::stod(ask("uptime")), 60);
}

TEST_F(JailTest, IsKnownByPidAndStartTimeTogether) {
    EXPECT_TRUE(find_process(process_.pid, process_.start_ticks));
    EXPECT_FALSE(find_process(process_.pid, process_.start_ticks + 1));
    EXPECT_FALSE(find_process(1, 0));
}

TEST_F(JailTest, ReportsTheStepThatFailed) {
    const Fd not_a_mount{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const Parts parts{.id = "ibroken",
                      .range = world_->ranges.take(),
                      .root = not_a_mount.get(),
                      .netns = world_->network.fd(),
                      .listener = not_a_mount.get(),
                      .group = &*group_,
                      .open_files = 100};
    try {
        (void)world_->launcher.start(parts);
        FAIL() << "started";
    } catch (const Error& error) {
        EXPECT_TRUE(error.message().starts_with("move the root into place: ")) << error.message();
    }
    world_->ranges.give_back(parts.range);
}

}  // namespace
}  // namespace oyat::jail

int main(int argc, char** argv) {
    if (argc > 0 && std::string_view{argv[0]} == "oyat-agent") oyat::jail::answer_questions();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
