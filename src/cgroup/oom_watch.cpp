#include "cgroup/oom_watch.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <set>

#include "base/throwing.hpp"
#include "cgroup/files.hpp"
#include "cgroup/parent.hpp"

namespace oyat::cgroup {

OomWatch::OomWatch(const Parent& parent) : parent_{&parent} {
    if (parent.v1(Controller::memory) >= 0) {
        fd_ = Fd{sys(::epoll_create1(EPOLL_CLOEXEC), "epoll")};
    } else {
        fd_ = Fd{sys(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK), "inotify")};
    }
}

void OomWatch::add(const Group& group) {
    in("watch memory of " + group.name(), [&] {
        if (parent_->v1(Controller::memory) >= 0) {
            add_v1(group.name());
        } else if (parent_->v2_has(Controller::memory)) {
            const std::string path = parent_->v2_->path + "/" + group.name() + "/memory.events";
            names_[sys(::inotify_add_watch(fd_.get(), path.c_str(), IN_MODIFY), "watch " + path)] =
                group.name();
        }
    });
}

// The v1 form: the kernel writes to an eventfd that was registered together with the open memory.oom_control.
void OomWatch::add_v1(const std::string& name) {
    const GroupFiles files{parent_->v1(Controller::memory), name};
    Fd event{sys(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")};
    const Fd control = files.open("memory.oom_control", O_RDONLY);
    files.write("cgroup.event_control", std::to_string(event.get()) + " " + std::to_string(control.get()));
    epoll_event interest{.events = EPOLLIN, .data = {.fd = event.get()}};
    sys(::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, event.get(), &interest), "epoll add");
    names_[event.get()] = name;
    events_[event.get()] = std::move(event);
}

void OomWatch::remove(std::string_view name) noexcept {
    const auto found = std::ranges::find(names_, name, &decltype(names_)::value_type::second);
    if (found == names_.end()) return;
    if (events_.erase(found->first) == 0) ::inotify_rm_watch(fd_.get(), found->first);
    names_.erase(found);
}

std::vector<std::string> OomWatch::take() {
    const std::vector<int> ready = parent_->v1(Controller::memory) >= 0 ? ready_v1() : ready_v2();
    std::set<std::string> touched;
    for (const int key : ready) {
        // A watch that was just removed may still have something in the queue.
        if (const auto found = names_.find(key); found != names_.end()) touched.insert(found->second);
    }
    return {touched.begin(), touched.end()};
}

std::vector<int> OomWatch::ready_v1() const {
    std::array<epoll_event, 64> events{};
    const int count = sys(::epoll_wait(fd_.get(), events.data(), events.size(), 0), "epoll");
    std::vector<int> ready;
    for (int i = 0; i < count; ++i) {
        std::uint64_t times = 0;
        if (::read(events[i].data.fd, &times, sizeof times) > 0) ready.push_back(events[i].data.fd);
    }
    return ready;
}

std::vector<int> OomWatch::ready_v2() const {
    std::vector<int> ready;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
        if (got <= 0) return ready;
        for (const char* at = buffer.data(); at < buffer.data() + got;) {
            const auto* event = reinterpret_cast<const inotify_event*>(at);
            ready.push_back(event->wd);
            at += sizeof *event + event->len;
        }
    }
}

}  // namespace oyat::cgroup
