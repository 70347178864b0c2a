#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/codec.hpp"

// What the keeper says of its machine. Part of keeper_messages.hpp, which says how they travel.
namespace oyat::wire {

struct GetInfo {
    static constexpr bool kIsMessage = true;
    bool reserved = false;
    template <class V>
    void fields(V& v) {
        v(1, reserved);
    }
};
struct EngineInfo {
    static constexpr bool kIsMessage = true;
    std::string name;
    bool available = false;
    std::string boundary;
    std::string reason;
    std::vector<std::string> capabilities;  // pause, disk_snapshot, disk_fork, memory_snapshot, memory_fork
    std::string version;
    std::string kernel;       // release that answers inside
    std::string accelerator;  // "": the processor itself; "kvm", "tcg", "systrap", "ptrace"
    bool emulated = false;    // a boundary that an emulator makes is not one between tenants
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, available);
        v(3, boundary);
        v(4, reason);
        v(5, capabilities);
        v(6, version);
        v(7, kernel);
        v(8, accelerator);
        v(9, emulated);
    }
};
struct LimitInfo {  // one hard limit and how this host enforces it
    static constexpr bool kIsMessage = true;
    std::string name;
    std::string mechanism;
    bool hard = false;
    std::uint64_t default_value = 0;
    std::uint64_t maximum = 0;
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, mechanism);
        v(3, hard);
        v(4, default_value);
        v(5, maximum);
    }
};
struct HeldCounts {
    static constexpr bool kIsMessage = true;
    std::uint32_t sandboxes = 0, mounts = 0, cgroups = 0, netns = 0, processes = 0;
    template <class V>
    void fields(V& v) {
        v(1, sandboxes);
        v(2, mounts);
        v(3, cgroups);
        v(4, netns);
        v(5, processes);
    }
};
struct KeeperInfo {
    static constexpr bool kIsMessage = true;
    std::uint32_t version = 0;
    std::string state_id;
    std::string kernel;
    std::vector<EngineInfo> engines;
    std::vector<LimitInfo> limits;
    std::vector<std::string> probes;
    HeldCounts held;
    HeldCounts pooled;
    std::uint32_t trash = 0;
    std::string cgroup_mode;  // v1, v2, hybrid, none
    template <class V>
    void fields(V& v) {
        v(1, version);
        v(2, state_id);
        v(3, kernel);
        v(4, engines);
        v(5, limits);
        v(6, probes);
        v(7, held);
        v(8, pooled);
        v(9, trash);
        v(10, cgroup_mode);
    }
};

}  // namespace oyat::wire
