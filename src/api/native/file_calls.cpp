#include <boost/json/array.hpp>
#include <vector>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "core/event_json.hpp"
#include "core/json_text.hpp"

// Files of a sandbox, one at a time.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::size_t kPiece = 256 * 1024;
constexpr std::uint64_t kMaxDepth = 64;

std::string_view to_string(core::FileType type) {
    using core::FileType;
    switch (type) {
        case FileType::file: return "file";
        case FileType::directory: return "directory";
        case FileType::symlink: return "symlink";
        case FileType::fifo: return "fifo";
        case FileType::socket: return "socket";
        case FileType::block_device:
        case FileType::char_device: return "device";
        case FileType::unknown: break;
    }
    return "unknown";
}

boost::json::object entry_json(const core::FileEntry& entry) {
    return {{"path", core::json_text(entry.path)},
            {"name", core::json_text(entry.name())},
            {"type", to_string(entry.type)},
            {"target_type", to_string(entry.target_type)},
            {"link_target", core::json_text(entry.link_target)},
            {"size", entry.size},
            {"mode", entry.mode & 07777},
            {"uid", entry.uid},
            {"gid", entry.gid},
            {"owner", core::json_text(entry.owner)},
            {"group", core::json_text(entry.group)},
            {"mtime", to_rfc3339(WallTime{std::chrono::duration_cast<WallTime::duration>(
                          std::chrono::nanoseconds{entry.mtime_ns})})}};
}

std::string path_of(const Call& call) {
    std::string path = call.text("path");
    if (path.empty()) throw Error{Errc::invalid_argument, "path is missing"};
    return path;
}

Task<> get(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const std::unique_ptr<core::FileSource> file =
        co_await sandbox->files().read(path_of(call), call.text("user"), 0, 0, call.who);
    // Chunked: the size of a file that is being written, or lies in /proc, promises nothing.
    co_await call.exchange.start(200,
                                 {{"Content-Type", "application/octet-stream"},
                                  {"Oyat-File-Mode", std::to_string(file->entry().mode & 07777)}},
                                 std::nullopt);
    for (std::string bytes = co_await file->next(); !bytes.empty(); bytes = co_await file->next()) {
        co_await call.exchange.write(bytes);
    }
    co_await call.exchange.finish();
}

Task<> put(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const std::unique_ptr<core::FileSink> file =
        co_await sandbox->files().write(path_of(call), call.text("user"), {}, call.who);
    std::vector<char> piece(kPiece);
    while (const std::size_t n = co_await call.exchange.read_body(piece))
        co_await file->write({piece.data(), n});
    co_await call.answer(200, entry_json(co_await file->finish()));
}

Task<> remove(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    co_await sandbox->files().remove(path_of(call), call.text("user"), call.who);
    co_await call.answer_empty();
}

Task<> stat(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    co_await call.answer(
        200, entry_json(co_await sandbox->files().stat(path_of(call), call.text("user"), call.who)));
}

// One entry a line, so that a large directory needs no large memory anywhere.
Task<> list(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const auto depth = static_cast<std::uint32_t>(call.number("depth", 1, kMaxDepth));
    const std::unique_ptr<core::DirListing> listing =
        co_await sandbox->files().list(path_of(call), call.text("user"), depth, call.who);
    co_await call.exchange.start(200, {{"Content-Type", "application/x-ndjson"}}, std::nullopt);
    for (auto entries = co_await listing->next(); !entries.empty(); entries = co_await listing->next()) {
        std::string lines;
        for (const core::FileEntry& entry : entries) {
            core::append_json(lines, entry_json(entry));
            lines += '\n';
        }
        co_await call.exchange.write(lines);
    }
    co_await call.exchange.finish();
}

Task<> make_directory(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    co_await call.answer(
        201, entry_json(co_await sandbox->files().make_dir(path_of(call), call.text("user"), call.who)));
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/sandboxes/{id}/files", Scope::run, get},
    {"PUT", "/v1/sandboxes/{id}/files", Scope::run, put},
    {"DELETE", "/v1/sandboxes/{id}/files", Scope::run, remove},
    {"GET", "/v1/sandboxes/{id}/stat", Scope::run, stat},
    {"GET", "/v1/sandboxes/{id}/directory", Scope::run, list},
    {"POST", "/v1/sandboxes/{id}/directory", Scope::run, make_directory},
};

}  // namespace

std::span<const Route> file_routes() {
    return kRoutes;
}

}  // namespace oyat::native
