#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cgroup/parent.hpp"
#include "engine/jail/cpu_shares.hpp"
#include "engine/jail/facts.hpp"
#include "engine/jail/jail.hpp"
#include "layers/staging.hpp"
#include "netns/netns.hpp"

// A real jail, whose pid 1 is this test program: see test_inmate.hpp. For tests only.
namespace oyat::jail::test {

// A root tree with just what this program needs to run: its libraries, at the paths where they were found.
inline void copy_libraries(const std::filesystem::path& root) {
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

// One jail for all tests; a test asks it something.
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
        netns::Netns network = netns::Netns::make(netns::Shape::loopback);
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
        engine::kill_process(process_);
        engine::wait_for_end(process_);
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
    static inline engine::Process process_;
};

}  // namespace oyat::jail::test
