#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "io/task.hpp"

// What core asks of the program inside a sandbox. Everything that comes back is a claim of the agent: bounded
// by `keeperlink`, but never to be believed over what the host saw.
namespace oyat::core {

struct TermSize {
    std::uint32_t cols = 80;
    std::uint32_t rows = 24;
};

enum class FileType { unknown, file, directory, symlink, fifo, socket, block_device, char_device };

struct FileEntry {
    std::string path;  // bytes as the kernel has them
    FileType type = FileType::unknown;
    FileType target_type = FileType::unknown;
    std::uint64_t size = 0;
    std::uint32_t mode = 0;
    std::uint32_t target_mode = 0;
    std::uint32_t uid = 0, gid = 0;
    std::string owner, group;
    std::int64_t mtime_ns = 0;
    std::string link_target;
    std::map<std::string, std::string> metadata;
    std::uint64_t links = 0;
    [[nodiscard]] std::string_view name() const {
        const std::size_t slash = path.rfind('/');
        return slash == std::string::npos ? std::string_view{path} : std::string_view{path}.substr(slash + 1);
    }
};

struct AgentSetup {
    std::map<std::string, std::string> env;
    std::string default_user;
    std::string default_cwd;
    std::string metadata_space;
    std::uint64_t open_files = 0;
};

struct SpawnOrder {
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::map<std::string, std::string> forced_env;
    std::string cwd;
    std::string user;
    std::optional<TermSize> pty;
    bool stdin_open = false;
    bool hold = false;
    Millis wall{0};  // 0 = none
    std::string tag;
};

enum class OutputChannel { out, err, pty };
struct Output {
    OutputChannel channel = OutputChannel::out;
    std::string bytes;
};
struct ExitReport {
    int exit_code = 0;
    int signal = 0;
    bool timed_out = false;
    bool killed_by_api = false;
    WallTime ended{};
    std::uint64_t user_us = 0, system_us = 0, max_rss_kib = 0, tree_cpu_us = 0;
};

struct AgentProcessInfo {
    std::uint32_t pid = 0;
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::string cwd, user, tag;
    bool pty = false, exited = false, held = false;
    WallTime started{};
};

// One started or joined process. next() acknowledges what it gave before: bytes that were never acknowledged
// are given again after a restart.
class AgentProcess {
public:
    virtual ~AgentProcess() = default;  // detaches; the process goes on
    [[nodiscard]] virtual std::uint32_t pid() const = 0;
    [[nodiscard]] virtual WallTime started() const = 0;
    [[nodiscard]] virtual std::uint64_t dropped_before()
        const = 0;  // attach: bytes lost while nobody listened
    // Output, then one ExitReport (more output may follow it), then nothing. Throws Error{unavailable} when
    // the channel broke; the process may still be alive and can be attached again.
    virtual Task<std::optional<std::variant<Output, ExitReport>>> next() = 0;
    // Bytes of output that next() gave and has not acknowledged: whoever attaches anew gets them once more.
    struct Unacknowledged {
        std::uint64_t out = 0;  // of standard output or the terminal
        std::uint64_t err = 0;
    };
    [[nodiscard]] virtual Unacknowledged unacknowledged() const { return {}; }
    virtual Task<> write_input(std::string bytes) = 0;  // waits while the program does not read
    virtual Task<> close_input() = 0;
};

class FileSource {
public:
    virtual ~FileSource() = default;
    [[nodiscard]] virtual const FileEntry& entry() const = 0;
    virtual Task<std::string> next() = 0;  // "" at the end
};
class FileSink {
public:
    virtual ~FileSink() = default;  // without finish(): given up
    virtual Task<> write(std::string_view bytes) = 0;
    virtual Task<FileEntry> finish() = 0;
};
class DirListing {
public:
    virtual ~DirListing() = default;
    virtual Task<std::vector<FileEntry>> next() = 0;  // empty at the end
};

enum class ChangeKind { create, write, remove, rename, chmod, overflow };
struct FileChange {
    ChangeKind kind = ChangeKind::create;
    std::string name;
    std::optional<FileEntry> entry;
};
class FileWatch {
public:
    virtual ~FileWatch() = default;
    virtual Task<std::vector<FileChange>> next() = 0;  // throws Error{unavailable} at the sandbox's end
};

struct UserFacts {
    std::string name;
    std::uint32_t uid = 0, gid = 0;
    std::string home, shell;
};

struct DiskUse {
    std::uint64_t total = 0, used = 0, inodes_total = 0, inodes_used = 0;
};

// What no checkpoint of the engine could bring back, so that quiesce() refuses while it is there.
struct QuiesceRules {
    bool no_connections = false;    // to outside of the sandbox
    bool no_deleted_files = false;  // open, but without a name
};

// What makes one life of a sandbox differ from another that came out of the same memory. Empty: as it is.
struct Renewal {
    std::string entropy;        // 64 random bytes
    std::uint64_t wall_ns = 0;  // Unix time
    std::string host_name;
    std::string machine_id;  // 32 lower-case hexadecimal digits
    std::uint64_t generation = 0;
};
// What was the agent's to change. Random numbers and the clock are not where the sandbox shares its kernel.
struct Renewed {
    bool reseeded = false;
    bool clock_set = false;
    bool host_named = false;
};

// The connection to one agent. Any number of calls at once. All throw Error; a lost or misbehaving agent is
// Error{unavailable, Fault::agent}. Paths and users follow the rules of src/wire/agent_messages.hpp.
class AgentChannel {
public:
    virtual ~AgentChannel() = default;

    virtual Task<> hello(std::chrono::milliseconds limit) = 0;  // returns when the agent has said who it is
    virtual Task<> configure(AgentSetup setup) = 0;
    virtual Task<std::unique_ptr<AgentProcess>> spawn(SpawnOrder order) = 0;
    virtual Task<std::unique_ptr<AgentProcess>> attach(std::uint32_t pid) = 0;
    virtual Task<std::vector<AgentProcessInfo>> processes() = 0;
    virtual Task<> signal(std::uint32_t pid, int signal, bool tree) = 0;
    virtual Task<> release(std::uint32_t pid, bool refuse) = 0;
    virtual Task<> resize(std::uint32_t pid, TermSize size) = 0;

    virtual Task<FileEntry> stat(std::string path, std::string user) = 0;
    virtual Task<std::unique_ptr<DirListing>> list(std::string path, std::string user,
                                                   std::uint32_t depth) = 0;
    virtual Task<FileEntry> make_dir(std::string path, std::string user, std::uint32_t mode) = 0;
    virtual Task<FileEntry> move(std::string source, std::string destination, std::string user) = 0;
    virtual Task<> remove(std::string path, std::string user, bool must_exist) = 0;
    virtual Task<FileEntry> compose(std::vector<std::string> sources, std::string destination,
                                    std::string user) = 0;
    virtual Task<std::unique_ptr<FileSource>> read(std::string path, std::string user, std::uint64_t offset,
                                                   std::uint64_t length) = 0;
    virtual Task<std::unique_ptr<FileSink>> write(std::string path, std::string user,
                                                  std::map<std::string, std::string> metadata) = 0;
    virtual Task<std::unique_ptr<FileWatch>> watch(std::string path, std::string user, bool recursive,
                                                   bool with_entry, bool allow_network_mounts) = 0;
    virtual Task<UserFacts> resolve_user(std::string user) = 0;
    virtual Task<DiskUse> disk_use() = 0;

    // Programs stand still and files are synced when it returns, until renew(). The channel is closed by
    // then, without a call of on_lost. Throws failed_precondition, with the obstacle, when the rules are not
    // kept; then all goes on as before.
    virtual Task<> quiesce(QuiesceRules rules) = 0;
    // The agent of a restored sandbox says hello with the generation that it was saved with; this one's next
    // hello has the new one. Programs that stood still go on.
    virtual Task<Renewed> renew(Renewal renewal) = 0;

    // Called once, on the loop, when the connection is over for good (reason in the text).
    virtual void on_lost(std::function<void(std::string)> handler) = 0;
    // After on_lost: true when the agent sent what its protocol does not allow, false when it went away.
    [[nodiscard]] virtual bool broke_protocol() const { return false; }
    // A frozen sandbox cannot answer: its silence is no loss until it is thawed.
    virtual void set_frozen(bool /*frozen*/) {}
    virtual Task<> close() = 0;
};

// Makes channels out of descriptors; `keeperlink` provides it, tests bring their own.
class AgentConnector {
public:
    virtual ~AgentConnector() = default;
    virtual std::unique_ptr<AgentChannel> connect(Fd socket, std::uint64_t generation) = 0;
};

}  // namespace oyat::core
