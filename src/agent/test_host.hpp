#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

// For the tests: a real oyat-agent on a socket of its own, and a host that speaks to it and waits for
// answers.
namespace oyat::agent::testing {

// As a Status carries it.
constexpr std::uint32_t code_of(Errc code) {
    return static_cast<std::uint32_t>(code) + 1;
}

// The program, started in a fresh directory, with a cgroup where the machine has a v2 tree to make one in.
class RunningAgent {
public:
    enum class Cgroup { if_possible, none };

    // `in_child` runs before the agent does, and after `in_parent` when that is given.
    struct Surroundings {
        std::function<void()> in_child;
        std::function<void(pid_t child)> in_parent;
    };

    explicit RunningAgent(Cgroup cgroup = Cgroup::if_possible, const Surroundings& surroundings = {});
    RunningAgent(const RunningAgent&) = delete;
    RunningAgent& operator=(const RunningAgent&) = delete;
    ~RunningAgent();

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] const std::string& directory() const { return directory_; }
    [[nodiscard]] const std::string& cgroup() const { return cgroup_; }  // "" = it has none
    [[nodiscard]] Fd connect() const;
    // KiB, from /proc.
    [[nodiscard]] std::uint64_t rss_kib() const;

private:
    pid_t pid_ = -1;
    std::string directory_;
    std::string cgroup_;
};

// What has come on one stream so far.
struct Heard {
    std::vector<std::string> events;
    std::map<wire::ChannelId, std::string> data;
    std::uint64_t bytes = 0;  // of data, also what was not kept
    bool eof = false;
    std::optional<wire::Status> end;

    [[nodiscard]] const std::string& out() { return data[wire::ChannelId::stdout_]; }
    [[nodiscard]] const std::string& err() { return data[wire::ChannelId::stderr_]; }
    [[nodiscard]] std::optional<wire::Started> started() const;
    [[nodiscard]] std::optional<wire::Exited> exited() const;
    [[nodiscard]] std::vector<wire::FileEntry> entries() const;
    [[nodiscard]] const std::vector<wire::WatchChange>& changes();

private:
    std::vector<wire::WatchChange> changes_;
    std::size_t changes_from_ = 0;  // events that are in changes_ already
};

class TestHost {
public:
    enum class Credit { at_once, never };

    explicit TestHost(const RunningAgent& agent) : TestHost{agent.connect()} {}
    explicit TestHost(Fd socket);

    [[nodiscard]] const wire::Hello& hello() const { return hello_; }
    [[nodiscard]] Heard& heard(std::uint32_t stream) { return heard_[stream]; }
    void set_credit(Credit credit) { credit_ = credit; }
    void keep_data(bool keep) { keep_data_ = keep; }

    std::uint32_t open(const wire::Request& request);
    void send(wire::FrameKind kind, std::uint32_t stream, wire::ChannelId channel = wire::ChannelId::none,
              std::string_view payload = {});
    void send_raw(std::string_view bytes);
    // Over and over, without reading, until the agent takes no more; fails the test beyond `most`.
    void send_until_blocked(std::string_view bytes, std::size_t most);
    void credit(std::uint32_t stream, std::uint32_t bytes);

    // Handles frames until the condition holds; fails the test after 20 seconds.
    void until(const std::function<bool()>& condition);
    // One frame, if it comes within the time.
    bool step(int timeout_ms);
    Heard& until_end(std::uint32_t stream);
    Heard& ask(const wire::Request& request) { return until_end(open(request)); }
    // Runs a program to its end.
    Heard& run(wire::Spawn spawn);
    Heard& shell(std::string script) { return run({.argv = {"/bin/sh", "-c", std::move(script)}}); }
    // Until the agent has hung up.
    bool closed_within(int timeout_ms);

private:
    void take(const wire::Frame& frame);

    Fd socket_;
    wire::FrameParser parser_;
    wire::Hello hello_;
    bool greeted_ = false;
    bool closed_ = false;
    bool keep_data_ = true;
    Credit credit_ = Credit::at_once;
    std::uint32_t next_ = 1;
    std::map<std::uint32_t, Heard> heard_;
};

}  // namespace oyat::agent::testing
