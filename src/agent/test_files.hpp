#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "agent/test_host.hpp"

// For the tests of files: each request as a call that answers when it is over.
namespace oyat::agent::testing {

inline std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

inline void put(const std::string& path, std::string_view content) {
    std::ofstream{path, std::ios::binary} << content;
}

class AgentFiles : public ::testing::Test {
protected:
    AgentFiles() { ::chmod(dir.c_str(), 01777); }

    Heard& write(wire::WriteFile request, std::string_view content) {
        wire::Request whole;
        whole.write_file = std::move(request);
        const auto stream = host.open(whole);
        while (!content.empty()) {
            const std::string_view piece = content.substr(0, 32 * 1024);
            host.send(wire::FrameKind::data, stream, wire::ChannelId::file, piece);
            content.remove_prefix(piece.size());
        }
        host.send(wire::FrameKind::eof, stream, wire::ChannelId::file);
        return host.until_end(stream);
    }
    Heard& read(wire::ReadFile request) {
        wire::Request whole;
        whole.read_file = std::move(request);
        return host.ask(whole);
    }
    Heard& list(std::string path, std::uint32_t depth = 1, std::string user = {}) {
        wire::Request whole;
        whole.list_dir = wire::ListDir{.path = std::move(path), .user = std::move(user), .depth = depth};
        return host.ask(whole);
    }
    Heard& stat(std::string path, std::string user = {}) {
        wire::Request whole;
        whole.stat = wire::Stat{.path = std::move(path), .user = std::move(user)};
        return host.ask(whole);
    }
    Heard& move(std::string source, std::string destination, std::string user = {}) {
        wire::Request whole;
        whole.move = wire::Move{
            .source = std::move(source), .destination = std::move(destination), .user = std::move(user)};
        return host.ask(whole);
    }
    Heard& remove(std::string path, std::string user = {}, bool must_exist = false) {
        wire::Request whole;
        whole.remove =
            wire::Remove{.path = std::move(path), .user = std::move(user), .must_exist = must_exist};
        return host.ask(whole);
    }
    Heard& make_dir(std::string path, std::string user = {}) {
        wire::Request whole;
        whole.make_dir = wire::MakeDir{.path = std::move(path), .user = std::move(user)};
        return host.ask(whole);
    }
    std::vector<std::string> names_below(const Heard& heard, const std::string& root) {
        std::vector<std::string> names;
        for (const auto& entry : heard.entries()) names.push_back(entry.path.substr(root.size() + 1));
        return names;
    }

    RunningAgent agent;
    TestHost host{agent};
    std::string dir = agent.directory();
};

}  // namespace oyat::agent::testing
