#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/codec.hpp"

// The messages of the agent's protocol. docs/internals/wire.md lists, for each request, which events come back.
// Times are Unix milliseconds; paths are bytes as the sandbox's kernel has them; users are names inside.
namespace oyat::wire {

inline constexpr std::uint32_t kAgentMagic = 0x5441594F;  // "OYAT"
inline constexpr std::uint32_t kAgentVersion = 1;

// Error of a stream, or `code == 0` for success. Codes are those of Errc + 1 (0 is "ok").
struct Status {
    static constexpr bool kIsMessage = true;
    std::uint32_t code = 0;
    std::string message;
    std::uint32_t err = 0;  // errno inside, when a system call was the cause
    template <class V> void fields(V& v) { v(1, code); v(2, message); v(3, err); }
};

// agent -> host, once per connection. The generation was given to the agent by the keeper when it was
// started; a clone or an old instance has another one and is not listened to (threats D-27).
struct Hello {
    static constexpr bool kIsMessage = true;
    std::uint32_t magic = 0;  // kAgentMagic
    std::uint32_t version = 0;  // kAgentVersion
    std::uint64_t generation = 0;
    bool configured = false;  // a Configure has been accepted in this agent's life
    std::uint64_t echo = 0;  // the bytes of the KNOCK that this answers, little endian; 0 = nobody knocked
    template <class V> void fields(V& v) {
        v(1, magic); v(2, version); v(3, generation); v(4, configured); v(5, echo);
    }
};

// Sets what all later processes get. Sent once at assignment, and again when it changes. Event: none.
struct Configure {
    static constexpr bool kIsMessage = true;
    std::map<std::string, std::string> env;  // sandbox-wide variables, under those of a request
    std::string default_user;                // "user"
    std::string default_cwd;                 // "" = the acting user's home
    std::uint64_t nofile = 0;                // RLIMIT_NOFILE of new processes, 0 = 65,536
    std::string metadata_space;              // files' metadata are attributes user.SPACE.KEY; "" = "oyat"
    template <class V> void fields(V& v) {
        v(1, env); v(2, default_user); v(3, default_cwd); v(4, nofile); v(5, metadata_space);
    }
};

struct TermSize {
    static constexpr bool kIsMessage = true;
    std::uint32_t cols = 0;  // 0 = 80
    std::uint32_t rows = 0;  // 0 = 24
    template <class V> void fields(V& v) { v(1, cols); v(2, rows); }
};

// Starts a program. Events: Started, DATA (stdout_/stderr_, or pty), and once the leader has ended and its output is
// closed too, Exited and END. A terminal is closed when its leader ends. Input: DATA on channel stdin_ (or pty), EOF
// closes it; on a terminal it is the end-of-file key. A program that cannot start has an END with the reason instead:
// failed_precondition for an unknown user, invalid_argument for a bad cwd, not_found for the program.
struct Spawn {
    static constexpr bool kIsMessage = true;
    std::vector<std::string> argv;             // argv[0] is looked up in the PATH of the new environment
    std::map<std::string, std::string> env;    // over the sandbox-wide ones
    std::string cwd;                           // path rules of resolve: "", "~", "~/x", relative to home, absolute
    std::string user;                          // "" = default user
    std::optional<TermSize> pty;               // a terminal instead of pipes
    bool stdin_open = false;                   // false: /dev/null
    bool hold = false;                         // reserve the pid, run the program on Release only
    std::uint64_t wall_ms = 0;                 // the whole process tree is killed after it; 0 = no limit
    std::string tag;                           // client's own name for the process
    std::map<std::string, std::string> forced_env;  // over everything, what a client may not override
    template <class V> void fields(V& v) {
        v(1, argv); v(2, env); v(3, cwd); v(4, user); v(5, pty); v(6, stdin_open); v(7, hold); v(8, wall_ms);
        v(9, tag); v(10, forced_env);
    }
};

// One of the events of a Spawn or Attach stream; exactly one member is set.
struct Started {
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;         // as seen inside
    std::int64_t started_ms = 0;
    std::uint64_t dropped_out = 0;  // bytes of output lost in its life while no host was attached
    template <class V> void fields(V& v) { v(1, pid); v(2, started_ms); v(3, dropped_out); }
};
struct Exited {
    static constexpr bool kIsMessage = true;
    std::int32_t exit_code = 0;   // valid when signal == 0
    std::uint32_t signal = 0;
    bool timed_out = false;       // wall_ms ran out and the agent killed the tree
    bool killed_by_api = false;   // a Signal request with SIGKILL or SIGTERM came first
    std::int64_t ended_ms = 0;
    std::uint64_t user_us = 0;    // rusage of the leader and what it waited for
    std::uint64_t system_us = 0;
    std::uint64_t max_rss_kib = 0;
    std::uint64_t tree_cpu_us = 0;  // of the command's own cgroup, 0 where there is none
    template <class V> void fields(V& v) {
        v(1, exit_code); v(2, signal); v(3, timed_out); v(4, killed_by_api); v(5, ended_ms); v(6, user_us);
        v(7, system_us); v(8, max_rss_kib); v(9, tree_cpu_us);
    }
};
struct ProcessEvent {
    static constexpr bool kIsMessage = true;
    std::optional<Started> started;
    std::optional<Exited> exited;
    template <class V> void fields(V& v) { v(1, started); v(2, exited); }
};

// Joins a process that is alive, or whose end no host has acknowledged. Events as for Spawn; output that was
// kept while no host was attached comes first. A second Attach takes the process from the first stream.
struct Attach {
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;
    template <class V> void fields(V& v) { v(1, pid); }
};

// All processes that the agent started and that are alive or not yet acknowledged. Events: ProcessList, as many as it
// takes, none for none. Of argv and env together no more than 16 KiB are told.
struct ListProcesses {
    static constexpr bool kIsMessage = true;
    bool reserved = false;
    template <class V> void fields(V& v) { v(1, reserved); }
};
struct ProcessInfo {
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;  // of the request only
    std::string cwd;
    std::string user;
    std::string tag;
    bool pty = false;
    bool exited = false;
    bool held = false;
    std::int64_t started_ms = 0;
    template <class V> void fields(V& v) {
        v(1, pid); v(2, argv); v(3, env); v(4, cwd); v(5, user); v(6, tag); v(7, pty); v(8, exited); v(9, held);
        v(10, started_ms);
    }
};
struct ProcessList {
    static constexpr bool kIsMessage = true;
    std::vector<ProcessInfo> processes;
    template <class V> void fields(V& v) { v(1, processes); }
};

// `tree` reaches every process of the command, also those that left its session. Event: none.
// SIGKILL and SIGTERM with `tree` also end the stream when the leader is gone, whoever keeps the pipes open.
// not_found when it has ended.
struct Signal {
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;
    std::uint32_t signal = 0;
    bool tree = false;
    template <class V> void fields(V& v) { v(1, pid); v(2, signal); v(3, tree); }
};
struct Release {  // starts a held program, or, with refuse, ends it without running
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;
    bool refuse = false;
    template <class V> void fields(V& v) { v(1, pid); v(2, refuse); }
};
struct Resize {
    static constexpr bool kIsMessage = true;
    std::uint32_t pid = 0;
    TermSize size;
    template <class V> void fields(V& v) { v(1, pid); v(2, size); }
};

enum class FileType : std::uint8_t { unknown = 0, file = 1, directory = 2, symlink = 3, fifo = 4, socket = 5,
                                     block_device = 6, char_device = 7 };

// One file as lstat(2) and, for links, stat(2) of the target see it.
struct FileEntry {
    static constexpr bool kIsMessage = true;
    std::string path;           // under the path that was asked for, after the path rules
    FileType type = FileType::unknown;  // of the entry itself
    FileType target_type = FileType::unknown;  // of what a link leads to; unknown when dangling
    std::uint64_t size = 0;
    std::uint32_t mode = 0;     // st_mode of the entry itself, type bits included
    std::uint32_t target_mode = 0;  // st_mode of the target of a link
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::string owner;          // names from the sandbox's passwd and group, else the numbers as text
    std::string group;
    std::int64_t mtime_ns = 0;
    std::string link_target;    // resolved target of a link (realpath), or its text when it dangles
    std::map<std::string, std::string> metadata;  // user.SPACE.* attributes, prefix removed
    std::uint64_t links = 0;
    template <class V> void fields(V& v) {
        v(1, path); v(2, type); v(3, target_type); v(4, size); v(5, mode); v(6, target_mode); v(7, uid); v(8, gid);
        v(9, owner); v(10, group); v(11, mtime_ns); v(12, link_target); v(13, metadata); v(14, links);
    }
};
struct FileEntries {
    static constexpr bool kIsMessage = true;
    std::vector<FileEntry> entries;
    bool truncated = false;  // the walk stopped at its bound (1,000,000 entries)
    template <class V> void fields(V& v) { v(1, entries); v(2, truncated); }
};

// File requests act with the rights of `user` inside the sandbox. `path` follows the path rules: "" is the default
// directory, "~" and "~/x" the home of the user, "~other" is refused, relative paths stand under the home.

// Events: FileEntries with the one entry, then DATA (file), EOF. `offset`/`length` cut out a range; length 0 = to
// the end. Only regular files and what /proc and /sys call files; others are refused by type without blocking.
struct ReadFile {
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; std::uint64_t offset = 0; std::uint64_t length = 0;
    bool stat_only = false;
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, offset); v(4, length); v(5, stat_only); }
};
// Input: DATA (file), EOF. Event at the end: FileEntries with the written entry. A stream that ends before leaves an
// existing file as far as it was written, and no new one. Missing parents are made, owned by
// the user. An existing file keeps its mode. `metadata` replaces all earlier metadata of the file.
struct WriteFile {
    static constexpr bool kIsMessage = true;
    std::string path; std::string user;
    std::map<std::string, std::string> metadata;
    bool append = false;
    std::uint32_t mode = 0;  // 0 = 0666 & ~umask for new files
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, metadata); v(4, append); v(5, mode); }
};
struct Stat {  // Event: FileEntries with one entry
    static constexpr bool kIsMessage = true;
    std::string path; std::string user;
    template <class V> void fields(V& v) { v(1, path); v(2, user); }
};
struct ListDir {  // Events: FileEntries, up to 256 entries each, depth first, names in byte order
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; std::uint32_t depth = 0; // 0 = 1
   
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, depth); }
};
struct MakeDir {  // parents too. Event: FileEntries. already_exists when it is a directory
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; std::uint32_t mode = 0;
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, mode); }
};
struct Move {  // rename(2), parents of the destination are made. Event: FileEntries of the new place
    static constexpr bool kIsMessage = true;
    std::string source; std::string destination; std::string user;
    template <class V> void fields(V& v) { v(1, source); v(2, destination); v(3, user); }
};
struct Remove {  // recursive; a missing path is success unless must_exist. Event: none
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; bool must_exist = false;
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, must_exist); }
};
struct Compose {  // concatenates sources into destination and removes them. Event: FileEntries
    static constexpr bool kIsMessage = true;
    std::vector<std::string> sources; std::string destination; std::string user;
    template <class V> void fields(V& v) { v(1, sources); v(2, destination); v(3, user); }
};
struct Chmod {  // mode and owner ("" = as it is). Event: FileEntries
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; std::optional<std::uint32_t> mode; std::string owner; std::string group;
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, mode); v(4, owner); v(5, group); }
};

// Events: one WatchReady, then WatchEvents as they come, until cancelled. New directories of a recursive watch are
// watched at once and what is already in them is reported as created.
struct Watch {
    static constexpr bool kIsMessage = true;
    std::string path; std::string user; bool recursive = false; bool with_entry = false;
    bool allow_network_mounts = false;  // NFS, CIFS, FUSE below the path are refused otherwise
    template <class V> void fields(V& v) { v(1, path); v(2, user); v(3, recursive); v(4, with_entry); v(5, allow_network_mounts); }
};
enum class WatchKind : std::uint8_t { none = 0, create = 1, write = 2, remove = 3, rename = 4, chmod = 5, overflow = 6 };
struct WatchChange {
    static constexpr bool kIsMessage = true;
    WatchKind kind = WatchKind::none;
    std::string name;  // relative to the watched path, "." for itself
    std::optional<FileEntry> entry;
    template <class V> void fields(V& v) { v(1, kind); v(2, name); v(3, entry); }
};
struct WatchEvents {
    static constexpr bool kIsMessage = true;
    bool ready = false;  // the first event: from now on nothing is missed
    std::vector<WatchChange> changes;
    template <class V> void fields(V& v) { v(1, ready); v(2, changes); }
};

// Who a name is inside. Event: UserInfo; not_found when passwd has no such line.
struct ResolveUser {
    static constexpr bool kIsMessage = true;
    std::string user;
    template <class V> void fields(V& v) { v(1, user); }
};
struct UserInfo {
    static constexpr bool kIsMessage = true;
    std::string name; std::uint32_t uid = 0; std::uint32_t gid = 0; std::string home; std::string shell;
    template <class V> void fields(V& v) { v(1, name); v(2, uid); v(3, gid); v(4, home); v(5, shell); }
};

// Free and total bytes and inodes of the sandbox's root, as statfs(2) inside has them. Event: DiskUse.
struct GetDiskUse {
    static constexpr bool kIsMessage = true;
    bool reserved = false;
    template <class V> void fields(V& v) { v(1, reserved); }
};
struct DiskUse {
    static constexpr bool kIsMessage = true;
    std::uint64_t total = 0; std::uint64_t used = 0; std::uint64_t inodes_total = 0; std::uint64_t inodes_used = 0;
    template <class V> void fields(V& v) { v(1, total); v(2, used); v(3, inodes_total); v(4, inodes_used); }
};

// Before a checkpoint: programs stand still from here on, and the file system is synced. When asked to, it looks for what
// no checkpoint could bring back: connections to outside, and open files that have no name any more; with one of them it
// is failed_precondition that names it, and programs go on as before. After a good END the agent says nothing more on
// this connection, and programs stand still until a Renew on another. Event: Quiesced, where the agent hangs up itself
// after the END; none where the connection is not its to close.
struct Quiesce {
    static constexpr bool kIsMessage = true;
    bool no_connections = false;
    bool no_deleted_files = false;
    template <class V> void fields(V& v) { v(1, no_connections); v(2, no_deleted_files); }
};
struct Quiesced {
    static constexpr bool kIsMessage = true;
    bool hangs_up = false;
    template <class V> void fields(V& v) { v(1, hangs_up); }
};

// A new life after a restore or a fork: everything here is in force before the first program goes on. What is zero or
// empty stays as it is. What is not the agent's to change (clock and random numbers of a kernel that it shares with its
// host) is left alone and not mentioned in the answer. Event: Renewed.
inline constexpr std::size_t kRenewalEntropy = 64;
struct Renew {
    static constexpr bool kIsMessage = true;
    std::string entropy;           // 64 random bytes for the kernel's generator, which then reseeds itself
    std::uint64_t wall_ns = 0;     // Unix time in nanoseconds
    std::string host_name;         // also in /etc/hostname and /etc/hosts
    std::string machine_id;        // 32 lower-case hexadecimal digits, for /etc/machine-id
    std::uint64_t generation = 0;  // of the next HELLO; programs find it in /run/oyat/generation
    template <class V> void fields(V& v) {
        v(1, entropy); v(2, wall_ns); v(3, host_name); v(4, machine_id); v(5, generation);
    }
};
struct Renewed {
    static constexpr bool kIsMessage = true;
    std::uint64_t generation = 0;  // the one in force now
    bool reseeded = false;         // the kernel's generator has the entropy
    bool clock_set = false;
    bool host_named = false;
    template <class V> void fields(V& v) { v(1, generation); v(2, reseeded); v(3, clock_set); v(4, host_named); }
};

// Payload of a REQUEST frame: exactly one member is set.
struct Request {
    static constexpr bool kIsMessage = true;
    std::optional<Configure> configure;
    std::optional<Spawn> spawn;
    std::optional<Attach> attach;
    std::optional<ListProcesses> list_processes;
    std::optional<Signal> signal;
    std::optional<Release> release;
    std::optional<Resize> resize;
    std::optional<ReadFile> read_file;
    std::optional<WriteFile> write_file;
    std::optional<Stat> stat;
    std::optional<ListDir> list_dir;
    std::optional<MakeDir> make_dir;
    std::optional<Move> move;
    std::optional<Remove> remove;
    std::optional<Compose> compose;
    std::optional<Chmod> chmod;
    std::optional<Watch> watch;
    std::optional<ResolveUser> resolve_user;
    std::optional<GetDiskUse> disk_use;
    std::optional<Quiesce> quiesce;
    std::optional<Renew> renew;
    template <class V> void fields(V& v) {
        v(1, configure); v(2, spawn); v(3, attach); v(4, list_processes); v(5, signal); v(6, release); v(7, resize);
        v(8, read_file); v(9, write_file); v(10, stat); v(11, list_dir); v(12, make_dir); v(13, move); v(14, remove);
        v(15, compose); v(16, chmod); v(17, watch); v(18, resolve_user); v(19, disk_use); v(20, quiesce);
        v(21, renew);
    }
};

}  // namespace oyat::wire
