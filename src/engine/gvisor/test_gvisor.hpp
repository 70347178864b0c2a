#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cgroup/parent.hpp"
#include "engine/gvisor/gvisor.hpp"
#include "engine/gvisor/test_agent.hpp"
#include "layers/id_range.hpp"
#include "layers/staging.hpp"
#include "netns/netns.hpp"

// Real sandboxes, made of this machine's base template. For tests only.
namespace oyat::gvisor::test {

inline constexpr const char* kRunsc = "/usr/lib/oyat/runsc";

inline std::string agent_beside_us() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "oyat-agent";
}

// The root of a template with a shell and Python; empty when there is none.
inline std::string template_root() {
    const char* named = std::getenv("OYAT_TEMPLATES");
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator{named != nullptr ? named : "/var/lib/oyat/templates", none}) {
        const std::filesystem::path root = entry.path() / "root";
        if (std::filesystem::exists(root / "usr/bin/python3")) return root;
    }
    return {};
}

template <class T>
T outcome_of(engine::Work<T>& work) {
    for (;;) {
        if (std::optional<Result<T>> outcome = work.advance()) return or_throw(*std::move(outcome));
        pollfd wait{work.fd(), POLLIN, 0};
        if (::poll(&wait, 1, 60'000) != 1) throw Error{Errc::deadline, "the work does not end"};
    }
}

class GvisorTest : public testing::Test {
protected:
    // What every sandbox is made from.
    struct World {
        explicit World(const std::string& dir)
            : staging{dir + "/stage"}, ranges{dir + "/uids", state}, engine{engine_of(dir)} {}

        [[nodiscard]] std::unique_ptr<Gvisor> engine_of(const std::string& dir) const {
            return std::make_unique<Gvisor>(
                Gvisor::Settings{.runsc = kRunsc, .agent = agent_beside_us(), .dir = dir + "/gvisor"},
                staging);
        }

        cgroup::Hierarchies hierarchies = cgroup::Hierarchies::probe();
        std::string state = "gvtest" + random_hex(2);
        cgroup::Parent groups{hierarchies, state};
        layers::Staging staging;
        layers::IdRanges ranges;
        std::unique_ptr<Gvisor> engine;
        Fd lower{::open(template_root().c_str(), O_PATH | O_CLOEXEC)};
    };

    // One sandbox with all that the keeper would hold of it.
    struct Sandbox {
        std::string id = new_sandbox_id();
        netns::Netns network = netns::Netns::make(netns::Shape::veth);
        netns::Listeners listeners = network.make_listeners();
        layers::IdRange range = world_->ranges.take();
        cgroup::Group group = world_->groups.create(
            id, {.memory_bytes = 512 << 20, .cpu_millis = 2000, .processes = 512}, range.base);
        engine::Process process;

        [[nodiscard]] engine::Running running() const { return {id, process, group}; }
        [[nodiscard]] AgentHost agent() const { return AgentHost{world_->engine->connect_agent(running())}; }
    };

    static void SetUpTestSuite() {
        if (::geteuid() != 0 || ::access(kRunsc, X_OK) != 0 || template_root().empty()) return;
        std::string name = "/tmp/oyat-gvisor-XXXXXX";
        dir_ = ::mkdtemp(name.data());
        for (const char* each : {"/stage", "/box"}) std::filesystem::create_directory(dir_ + each);
        world_ = std::make_unique<World>(dir_);
        await_trial();
        sys(::mount("oyat", (dir_ + "/box").c_str(), "tmpfs", 0, "size=48m"), "mount a box");
    }
    static void await_trial() {
        while (world_->engine->info().reason == "it is being tried out") ::usleep(10'000);
        ASSERT_EQ(world_->engine->info().reason, "");
    }
    static void TearDownTestSuite() {
        if (!world_) return;
        world_->groups.remove();
        world_.reset();
        for (const char* each : {"/stage", "/box"}) ::umount2((dir_ + each).c_str(), MNT_DETACH);
        std::filesystem::remove_all(dir_);
    }
    void SetUp() override {
        if (!world_) GTEST_SKIP() << "needs root, " << kRunsc << " (scripts/make-runsc) and a base template";
    }
    void TearDown() override {
        for (const std::unique_ptr<Sandbox>& sandbox : made_) end(*sandbox);
        made_.clear();
    }

    // A new writable part, with the content of another one if that is given.
    static Fd box(const std::string& id, const std::string& from = {}) {
        const std::filesystem::path at = dir_ + "/box/" + id;
        std::filesystem::create_directories(at / "w");
        if (from.empty()) {
            std::filesystem::create_directory(at / "u");
        } else {
            sys(std::system(("cp -a " + dir_ + "/box/" + from + "/u " + at.string() + "/u").c_str()),
                "copy a box");
        }
        return Fd{sys(::open(at.c_str(), O_PATH | O_CLOEXEC), "open a box")};
    }

    Sandbox& started(int memory = -1, const std::string& disk_from = {}) {
        made_.push_back(std::make_unique<Sandbox>());
        Sandbox& made = *made_.back();
        const Fd disk = box(made.id, disk_from);
        const int lower = world_->lower.get();
        const auto work = world_->engine->start({.id = made.id,
                                                 .generation = memory < 0 ? 7U : 8U,
                                                 .range = made.range,
                                                 .lowers = {&lower, 1},
                                                 .box = disk.get(),
                                                 .network = &made.network,
                                                 .group = &made.group,
                                                 .open_files = 1000,
                                                 .extra_hosts = "10.0.0.9 mirror\n",
                                                 .memory = memory});
        made.process = outcome_of(*work);
        return made;
    }

    // As the keeper ends one.
    static void end(Sandbox& sandbox) {
        sandbox.group.kill();
        world_->engine->forget(sandbox.id);
        for (int i = 0; i < 5000 && !sandbox.group.destroy(); ++i) ::usleep(1000);
        world_->ranges.give_back(sandbox.range);
    }

    static inline std::string dir_;
    static inline std::unique_ptr<World> world_;
    std::vector<std::unique_ptr<Sandbox>> made_;
};

}  // namespace oyat::gvisor::test
