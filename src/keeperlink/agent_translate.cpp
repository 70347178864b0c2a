#include "keeperlink/agent_translate.hpp"

#include <cerrno>
#include <utility>

#include "base/json_escape.hpp"

namespace oyat::keeperlink {
namespace {

constexpr std::size_t kLongestSentence = 1024;

// The agent's sentence goes into answers and logs: short, and text.
std::string tame(std::string sentence) {
    if (sentence.size() > kLongestSentence) sentence.resize(kLongestSentence);
    const bool text = is_utf8(sentence);
    for (char& c : sentence) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !text)) c = '?';
    }
    return sentence;
}

Errc errc_of_status(std::uint32_t code) {
    if (code == 0 || code > static_cast<std::uint32_t>(Errc::internal) + 1) return Errc::internal;
    return static_cast<Errc>(code - 1);
}

core::FileType to_core(wire::FileType type) {
    return type <= wire::FileType::char_device ? static_cast<core::FileType>(type) : core::FileType::unknown;
}

core::ChangeKind to_core(wire::WatchKind kind) {
    switch (kind) {
        case wire::WatchKind::create: return core::ChangeKind::create;
        case wire::WatchKind::write: return core::ChangeKind::write;
        case wire::WatchKind::remove: return core::ChangeKind::remove;
        case wire::WatchKind::rename: return core::ChangeKind::rename;
        case wire::WatchKind::chmod: return core::ChangeKind::chmod;
        default: return core::ChangeKind::overflow;
    }
}

}  // namespace

Error to_error(const wire::Status& status) {
    const Errc code = errc_of_status(status.code);
    std::string message = tame(status.message);
    switch (status.err) {
        case ENOSPC:
        case EDQUOT: return Error{Errc::exhausted, Fault::limit, std::move(message)}.of_limit("disk");
        case EAGAIN: return Error{Errc::exhausted, Fault::limit, std::move(message)}.of_limit("processes");
        case ENOMEM: return Error{Errc::exhausted, Fault::limit, std::move(message)}.of_limit("memory");
        // The kernel inside said no to the user that the client named; no policy of ours did.
        case EACCES:
        case EPERM:
        case EROFS: return Error{Errc::denied, Fault::client, std::move(message)};
        default: break;
    }
    switch (code) {
        case Errc::denied: return Error{code, Fault::client, std::move(message)};
        case Errc::internal:
        case Errc::deadline:
        case Errc::unavailable: return Error{code, Fault::agent, std::move(message)};
        // Only our own tasks are canceled; a stream that the agent gave up is one that is not there.
        case Errc::canceled: return Error{Errc::unavailable, Fault::agent, std::move(message)};
        default: return Error{code, std::move(message)};
    }
}

wire::Spawn to_wire(core::SpawnOrder order) {
    wire::Spawn spawn{.argv = std::move(order.argv),
                      .env = std::move(order.env),
                      .cwd = std::move(order.cwd),
                      .user = std::move(order.user),
                      .pty = std::nullopt,
                      .stdin_open = order.stdin_open,
                      .hold = order.hold,
                      .wall_ms = static_cast<std::uint64_t>(order.wall.count()),
                      .tag = std::move(order.tag),
                      .forced_env = std::move(order.forced_env)};
    if (order.pty) spawn.pty = wire::TermSize{.cols = order.pty->cols, .rows = order.pty->rows};
    return spawn;
}

wire::Configure to_wire(core::AgentSetup setup) {
    return {.env = std::move(setup.env),
            .default_user = std::move(setup.default_user),
            .default_cwd = std::move(setup.default_cwd),
            .nofile = setup.open_files,
            .metadata_space = std::move(setup.metadata_space)};
}

core::FileEntry to_core(wire::FileEntry entry) {
    return {.path = std::move(entry.path),
            .type = to_core(entry.type),
            .target_type = to_core(entry.target_type),
            .size = entry.size,
            .mode = entry.mode,
            .target_mode = entry.target_mode,
            .uid = entry.uid,
            .gid = entry.gid,
            .owner = std::move(entry.owner),
            .group = std::move(entry.group),
            .mtime_ns = entry.mtime_ns,
            .link_target = std::move(entry.link_target),
            .metadata = std::move(entry.metadata),
            .links = entry.links};
}

core::FileChange to_core(wire::WatchChange change) {
    core::FileChange out{.kind = to_core(change.kind), .name = std::move(change.name), .entry = std::nullopt};
    if (change.entry) out.entry = to_core(*std::move(change.entry));
    return out;
}

core::AgentProcessInfo to_core(wire::ProcessInfo info) {
    return {.pid = info.pid,
            .argv = std::move(info.argv),
            .env = std::move(info.env),
            .cwd = std::move(info.cwd),
            .user = std::move(info.user),
            .tag = std::move(info.tag),
            .pty = info.pty,
            .exited = info.exited,
            .held = info.held,
            .started = plausible_time(info.started_ms)};
}

core::ExitReport to_core(const wire::Exited& exited) {
    return {.exit_code = exited.signal == 0 ? exited.exit_code : -1,
            .signal = static_cast<int>(exited.signal),
            .timed_out = exited.timed_out,
            .killed_by_api = exited.killed_by_api,
            .ended = plausible_time(exited.ended_ms),
            .user_us = exited.user_us,
            .system_us = exited.system_us,
            .max_rss_kib = exited.max_rss_kib,
            .tree_cpu_us = exited.tree_cpu_us};
}

WallTime plausible_time(std::int64_t millis) {
    constexpr std::int64_t kEndOfCentury = 4'102'444'800'000;
    return from_unix_millis(millis < 0 || millis > kEndOfCentury ? 0 : millis);
}

}  // namespace oyat::keeperlink
