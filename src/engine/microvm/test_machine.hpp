#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cgroup/parent.hpp"
#include "engine/common/agent_line.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/microvm.hpp"
#include "engine/microvm/unix_socket.hpp"
#include "layers/id_range.hpp"
#include "netns/netns.hpp"

// Real machines with the real agent, on a template that has just a shell. For tests only.
namespace oyat::microvm::test {

inline std::string program(const char* name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

// Waits for work as the keeper's loop does.
template <class T>
T outcome_of(engine::Work<T>& work) {
    for (;;) {
        if (std::optional<Result<T>> outcome = work.advance()) return or_throw(*std::move(outcome));
        pollfd wait{work.fd(), POLLIN, 0};
        ::poll(&wait, 1, 60'000);
    }
}

// What all machines of a test program share: making it takes a boot.
struct World {
    World() {
        std::string name = "/var/tmp/oyat-microvm-XXXXXX";
        dir = ::mkdtemp(name.data());
        for (const char* each : {"/state", "/run", "/image", "/doors", "/boxes", "/saved"}) {
            std::filesystem::create_directory(dir + each);
        }
        fill_image();
        image = Fd{::open((dir + "/image").c_str(), O_PATH | O_CLOEXEC)};
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World() {
        ranges.release_unused();
        EXPECT_TRUE(groups.remove());
        std::filesystem::remove_all(dir);
        std::filesystem::remove_all("/run/oyat-microvm-test");
    }

    [[nodiscard]] Places places() const {
        const char* kernel = std::getenv("OYAT_KERNEL");
        const char* agent = std::getenv("OYAT_TEST_AGENT");
        return {.state = dir + "/state",
                .shared = dir + "/shared",
                .run = dir + "/run",
                .kernel = kernel != nullptr ? kernel : "/usr/lib/oyat/kernel",
                .agent = agent != nullptr ? agent : program("oyat-agent")};
    }

    // A shell, the programs that the tests use, and their libraries.
    void fill_image() const {
        const std::string copy = "cd " + dir +
                                 "/image && mkdir -p bin etc tmp root proc sys dev run usr/bin && "
                                 "for p in sh cat sleep sync mkdir head od dd hostname uname; do f=$(command "
                                 "-v $p); cp -L $f bin/; "
                                 "ldd $f | grep -o '/[^ ]*' | while read l; do mkdir -p .$(dirname $l); cp "
                                 "-Ln $l .$l; done; done; "
                                 "echo root:x:0:0:root:/root:/bin/sh >etc/passwd; echo root:x:0: >etc/group";
        ASSERT_EQ(::system(copy.c_str()), 0);
    }

    std::string dir;
    Fd image;
    cgroup::Hierarchies hierarchies = cgroup::Hierarchies::probe();
    std::string state = "microvmtest" + random_hex(2);
    cgroup::Parent groups{hierarchies, state};
    layers::IdRanges ranges{"/run/oyat-microvm-test", state};
};

// A sandbox of a test, with what the keeper would make for it.
class Sandbox {
public:
    explicit Sandbox(World& world) : world_{world}, range_{world.ranges.take()} {
        std::filesystem::create_directory(box_path());
        box_ = Fd{::open(box_path().c_str(), O_PATH | O_CLOEXEC)};
        listener_ = listen_at(world.dir + "/doors/" + id);
        group_ = world.groups.create(
            id, {.memory_bytes = limits.memory_bytes + kOverheadBytes, .processes = 512}, range_.base);
    }
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;
    ~Sandbox() {
        end();
        if (engine_ != nullptr) engine_->forget(id);
        while (!group_->destroy()) ::usleep(1000);
        world_.ranges.give_back(range_);
        std::filesystem::remove_all(box_path());
    }

    void start(Microvm& engine, int memory = -1) {
        const std::unique_ptr<engine::Work<engine::Process>> work = begin(engine, memory);
        process_ = outcome_of(*work);
    }
    std::unique_ptr<engine::Work<engine::Process>> begin(Microvm& engine, int memory = -1) {
        engine_ = &engine;
        const std::array lowers{world_.image.get()};
        const engine::Parts parts{.id = id,
                                  .generation = generation,
                                  .template_digest = "sha256:test",
                                  .limits = limits,
                                  .range = range_,
                                  .lowers = lowers,
                                  .box = box_.get(),
                                  .network = &network_,
                                  .listener = listener_.get(),
                                  .group = &*group_,
                                  .open_files = 1024,
                                  .extra_hosts = "",
                                  .memory = memory};
        return engine.start(parts);
    }
    void end() {
        if (!process_) return;
        engine::kill_process(*process_);
        pollfd ended{process_->pidfd.get(), POLLIN, 0};
        ::poll(&ended, 1, 10'000);
        process_.reset();
    }

    // What a shell inside says, both streams.
    std::string shell(const std::string& script) {
        engine::AgentLine agent = line();
        agent.greet();
        return shell(agent, script);
    }
    static std::string shell(engine::AgentLine& agent, const std::string& script) {
        const engine::AgentLine::Answer answer =
            agent.ask({.spawn = wire::Spawn{.argv = {"/bin/sh", "-c", script}}});
        if (answer.status.code != 0) return "error: " + answer.status.message;
        return answer.data;
    }
    [[nodiscard]] engine::AgentLine line() const {
        return engine::AgentLine{connect_to(world_.dir + "/doors/" + id), Millis{20'000}, [this] {
                                     if (engine::has_ended(*process_))
                                         throw Error{Errc::unavailable, "QEMU ended"};
                                 }};
    }

    // As the keeper and oyatd make a checkpoint: programs stand still, the disk is copied beside the memory.
    std::string save(Microvm& engine, Microvm::Afterwards afterwards) {
        const std::string into = world_.dir + "/saved/" + random_hex(4);
        std::filesystem::create_directory(into);
        std::filesystem::create_directory(into + "/memory");
        {
            engine::AgentLine agent = line();
            agent.greet();
            const engine::AgentLine::Answer answer = agent.ask({.quiesce = wire::Quiesce{}});
            if (answer.status.code != 0) throw Error{Errc::internal, "quiesce: " + answer.status.message};
        }
        const Fd memory{::open((into + "/memory").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        const std::unique_ptr<engine::Work<engine::Nothing>> work = engine.checkpoint(
            running(), memory.get(), afterwards,
            [&] { std::filesystem::copy_file(box_path() + "/" + kDiskName, into + "/" + kDiskName); });
        static_cast<void>(outcome_of(*work));
        return into;
    }
    // Goes on from such a checkpoint.
    void go_on(Microvm& engine, const std::string& saved) {
        std::filesystem::copy_file(saved + "/" + kDiskName, box_path() + "/" + kDiskName);
        const Fd memory{::open((saved + "/memory").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        start(engine, memory.get());
        new_life();
    }
    void new_life() {
        engine::AgentLine agent = line();
        agent.greet();
        renew(agent, generation, id);
    }

    [[nodiscard]] engine::Running running() const {
        return {.id = id, .process = *process_, .group = *group_};
    }
    [[nodiscard]] const engine::Process& process() const { return *process_; }
    [[nodiscard]] bool has_processes() const { return !group_->empty(); }
    [[nodiscard]] uid_t user() const { return range_.base; }
    [[nodiscard]] std::string box_path() const { return world_.dir + "/boxes/" + id; }

    const std::string id = new_sandbox_id();
    std::uint64_t generation = 7;
    wire::BoxLimits limits{.memory_bytes = 256 << 20,
                           .cpu_millis = 1000,
                           .processes = 100,
                           .disk_bytes = 128 << 20,
                           .disk_inodes = 10'000};

private:
    World& world_;
    Microvm* engine_ = nullptr;
    layers::IdRange range_;
    Fd box_;
    Fd listener_;
    std::optional<cgroup::Group> group_;
    netns::Netns network_ = netns::Netns::make(netns::Shape::tap);
    std::optional<engine::Process> process_;
};

}  // namespace oyat::microvm::test
