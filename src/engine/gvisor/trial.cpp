#include "engine/gvisor/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"
#include "engine/gvisor/bundle.hpp"
#include "engine/gvisor/container.hpp"
#include "netns/netns.hpp"

namespace oyat::gvisor {
namespace {

constexpr const char* kFirst = "first";
constexpr const char* kAgain = "again";  // what goes on from the first one's memory
// Of host ids that no sandbox has: just below those that are shared out.
constexpr std::uint32_t kFirstId = 0x6FFF0000;
constexpr int kEndLimitMs = 5000;
constexpr const char* kTree = "/run/trial";

// Each step is said before it is taken, so that the last word names the one that failed. Connecting is the
// last, and is repeated, so that it is seen again after the sandbox has been written to disk; but not for
// ever, should the keeper be killed.
constexpr const char* kScript =
    "echo ls; ls -l / >/dev/null || exit 1; "
    "echo python; [ ! -x /usr/bin/python3 ] || /usr/bin/python3 -c 'import json' || exit 1; "
    "echo network; i=0; while [ $((i += 1)) -lt 500 ]; do bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'; sleep "
    "0.05; done";

// Host programs and nothing else, as an unattached mount. Made in a mount namespace of its own, from which we
// come back.
Fd make_root() {
    return in("make a root", [] {
        const Fd home{sys(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), "open the mount namespace")};
        sys(::unshare(CLONE_NEWNS), "make a mount namespace");
        const Defer back{[&] { ::setns(home.get(), CLONE_NEWNS); }};
        sys(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
        sys(::mount("oyat", "/run", "tmpfs", 0, "mode=0755,size=1m"), "mount /run");
        const std::string tree = kTree;
        for (const char* each : {"", "/usr", "/etc", "/dev", "/proc", "/sys", "/tmp"}) {
            sys(::mkdir((tree + each).c_str(), 0755), "make a directory");
        }
        for (const char* each : {"bin", "sbin", "lib", "lib64"}) {
            const std::string target = std::string{"usr/"} + each;
            if (::access(("/" + target).c_str(), F_OK) != 0) continue;
            sys(::symlink(target.c_str(), (tree + "/" + each).c_str()), "link to /usr");
        }
        sys(::mount("/usr", (tree + "/usr").c_str(), nullptr, MS_BIND, nullptr), "show /usr");
        sys(::mount(nullptr, (tree + "/usr").c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr),
            "protect /usr");
        return Fd{
            sys(::open_tree(AT_FDCWD, kTree, AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "take it")};
    });
}

std::string last_word(int output) {
    std::array<char, 256> space{};
    const ssize_t n = ::pread(output, space.data(), space.size(), 0);
    std::string said{space.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
    while (said.ends_with('\n')) said.pop_back();
    return said.substr(said.rfind('\n') + 1);
}

// In a child of its own, since each start changes what its process sees for good.
void start(const Runsc& runsc, const Homes& homes, const char* id, int memory) {
    homes.make(id, kFirstId);
    netns::Netns network = netns::Netns::make(netns::Shape::veth);
    const netns::Listeners listeners = network.make_listeners();
    const Fd root = make_root();
    const Fd state = homes.state(id);
    const Fd output{::memfd_create("said", MFD_CLOEXEC)};
    const StartPlan plan{.id = id,
                         .root = root.get(),
                         .state = state.get(),
                         .memory = memory,
                         .outer_network = network.fd(),
                         .inner_network = network.inner(),
                         .knock = listeners.proxy.get(),
                         .output = output.get(),
                         .first_id = kFirstId,
                         .bundle = bundle_text({.host_name = id,
                                                .first_id = kFirstId,
                                                .open_files = 1024,
                                                .argv = {"/bin/sh", "-c", kScript},
                                                .with_agent = false}),
                         .hosts = {}};
    try {
        (void)start_container(runsc, homes, plan);
    } catch (Error& error) {
        const std::string word = last_word(output.get());
        if (word.empty()) throw;
        throw std::move(error).in("at the step " + word);
    }
}

void apart(std::function<void()> body) {
    const auto work = engine::forked_doing(std::move(body), [] {});
    for (;;) {
        if (const auto outcome = work->advance()) {
            if (!*outcome) throw outcome->error();
            return;
        }
        pollfd wait{work->fd(), POLLIN, 0};
        ::poll(&wait, 1, -1);
    }
}

void tidy(const Homes& homes) noexcept {
    for (const char* id : {kFirst, kAgain}) end_container(homes, id);
}

// Throws what fails first.
void try_out(const Runsc& runsc, const Homes& homes) {
    tidy(homes);  // after a keeper that was killed in the middle of it
    const Defer at_end{[&] { tidy(homes); }};
    apart([&] { start(runsc, homes, kFirst, -1); });
    const Fd image = homes.image(kFirst);
    apart([&] { checkpoint_container(runsc, kFirst, homes.state(kFirst).get(), image.get()); });
    in("go on from disk", [&] { apart([&] { start(runsc, homes, kAgain, image.get()); }); });
}

std::string try_all(const std::string& path, const Homes& homes) {
    const std::string version = Runsc{path, Platform::systrap}.version();
    try {
        try_out({path, Platform::systrap}, homes);
        return "systrap " + version;
    } catch (const Error& error) {
        try {
            try_out({path, Platform::ptrace}, homes);
            return "ptrace " + version;
        } catch (const Error&) {
            throw error;  // the one that would be wanted
        }
    }
}

}  // namespace

Trial::Trial(std::string runsc, const std::string& dir) : runsc_{std::move(runsc)}, homes_{dir} {
    try {
        begin();
    } catch (const Error& error) {
        reason_ = error.message();
    }
}

Trial::~Trial() {
    while (work_) {
        pollfd wait{work_->fd(), POLLIN, 0};
        if (::poll(&wait, 1, kEndLimitMs) != 1) return;
        (void)platform();
    }
}

void Trial::begin() {
    if (::access(runsc_.c_str(), X_OK) != 0) {
        throw Error{Errc::unavailable, Fault::oyat_operator, "there is no " + runsc_};
    }
    work_ = engine::forked([this] { return try_all(runsc_, homes_); }, [this] { tidy(homes_); });
}

std::optional<Platform> Trial::platform() {
    if (!work_) return platform_;
    const std::optional<Result<std::string>> outcome = work_->advance();
    if (!outcome) return std::nullopt;
    if (*outcome) {
        const std::string& said = **outcome;
        platform_ = said.starts_with("systrap ") ? Platform::systrap : Platform::ptrace;
        version_ = said.substr(said.find(' ') + 1);
        reason_.clear();
    } else {
        reason_ = outcome->error().message();
    }
    work_.reset();
    return platform_;
}

}  // namespace oyat::gvisor
