#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "agent/test_host.hpp"

// For the tests of commands: their requests in one line each, and what can be seen of a process from outside.
namespace oyat::agent::testing {

inline wire::Request spawn_request(wire::Spawn spawn) {
    wire::Request request;
    request.spawn = std::move(spawn);
    return request;
}

inline wire::Request shell_request(std::string script) {
    return spawn_request({.argv = {"/bin/sh", "-c", std::move(script)}});
}

inline wire::Request signal_request(std::uint32_t pid, std::uint32_t signal, bool tree = true) {
    wire::Request request;
    request.signal = wire::Signal{.pid = pid, .signal = signal, .tree = tree};
    return request;
}

inline wire::Request attach_request(std::uint32_t pid) {
    wire::Request request;
    request.attach = wire::Attach{.pid = pid};
    return request;
}

inline std::uint32_t start(TestHost& host, std::uint32_t stream) {
    host.until([&] { return host.heard(stream).started() || host.heard(stream).end; });
    const auto started = host.heard(stream).started();
    return started ? started->pid : 0;
}

inline bool alive(std::uint32_t pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(stat, text);
    const auto at = text.rfind(") ");
    return at != text.npos && text[at + 2] != 'Z';
}

inline void until_gone(TestHost& host, std::uint32_t pid) {
    host.until([&] {
        host.step(5);
        return !alive(pid);
    });
}

class AgentProcess : public ::testing::Test {
protected:
    RunningAgent agent;
    TestHost host{agent};
};

}  // namespace oyat::agent::testing
