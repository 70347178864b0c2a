#include "api/e2b/entry_json.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/json_escape.hpp"

namespace oyat::e2b {
namespace {

using core::FileType;

// A link is shown as what it leads to.
FileType shown_type(const core::FileEntry& entry) {
    return entry.type == FileType::symlink ? entry.target_type : entry.type;
}

// Some file systems count only names in a directory and call an empty one 0 bytes long, which to clients
// means that there is nothing. It takes a block like any other.
std::uint64_t shown_size(const core::FileEntry& entry) {
    constexpr std::uint64_t kBlock = 4096;
    return entry.type == FileType::directory ? std::max(entry.size, kBlock) : entry.size;
}

std::string_view type_name(FileType type) {
    switch (type) {
        case FileType::file: return "FILE_TYPE_FILE";
        case FileType::directory: return "FILE_TYPE_DIRECTORY";
        default: return "FILE_TYPE_UNSPECIFIED";
    }
}

std::string_view event_name(core::ChangeKind kind) {
    switch (kind) {
        case core::ChangeKind::create: return "EVENT_TYPE_CREATE";
        case core::ChangeKind::write: return "EVENT_TYPE_WRITE";
        case core::ChangeKind::remove: return "EVENT_TYPE_REMOVE";
        case core::ChangeKind::rename: return "EVENT_TYPE_RENAME";
        case core::ChangeKind::chmod: return "EVENT_TYPE_CHMOD";
        case core::ChangeKind::overflow: return "EVENT_TYPE_UNSPECIFIED";
    }
    return "EVENT_TYPE_UNSPECIFIED";
}

// "key":"text", after a comma unless it is the first of its object.
void append_field(std::string& json, std::string_view key, std::string_view text) {
    if (json.back() != '{') json += ',';
    json += '"';
    json += key;
    json += "\":";
    append_json_string(json, text);
}

void append_metadata(std::string& json, const core::FileEntry& entry) {
    if (entry.metadata.empty()) return;
    json += R"(,"metadata":{)";
    for (const auto& [key, value] : entry.metadata) append_field(json, key, value);
    json += '}';
}

std::string time_text(std::int64_t ns) {
    return to_rfc3339(WallTime{std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds{ns})});
}

}  // namespace

std::string permission_text(const core::FileEntry& entry) {
    std::string text;
    switch (entry.type) {
        case FileType::directory: text += 'd'; break;
        case FileType::symlink: text += 'L'; break;
        case FileType::block_device: text += 'D'; break;
        case FileType::char_device: text += "Dc"; break;
        case FileType::fifo: text += 'p'; break;
        case FileType::socket: text += 'S'; break;
        default: break;
    }
    if ((entry.mode & S_ISUID) != 0) text += 'u';
    if ((entry.mode & S_ISGID) != 0) text += 'g';
    if ((entry.mode & S_ISVTX) != 0) text += 't';
    if (text.empty()) text += '-';
    constexpr std::string_view kLetters = "rwxrwxrwx";
    for (std::size_t i = 0; i < kLetters.size(); ++i) {
        text += (entry.mode & (0400u >> i)) != 0 ? kLetters[i] : '-';
    }
    return text;
}

void append_entry(std::string& json, const core::FileEntry& entry) {
    const std::uint32_t mode = entry.type == FileType::symlink ? entry.target_mode : entry.mode;
    json += '{';
    append_field(json, "name", entry.name());
    append_field(json, "type", type_name(shown_type(entry)));
    append_field(json, "path", entry.path);
    append_field(json, "size", std::to_string(shown_size(entry)));
    json += R"(,"mode":)";
    json += std::to_string(mode & 0777);
    append_field(json, "permissions", permission_text(entry));
    append_field(json, "owner", entry.owner);
    append_field(json, "group", entry.group);
    append_field(json, "modifiedTime", time_text(entry.mtime_ns));
    if (entry.type == FileType::symlink) append_field(json, "symlinkTarget", entry.link_target);
    append_metadata(json, entry);
    json += '}';
}

void append_written(std::string& json, const core::FileEntry& entry) {
    json += '{';
    append_field(json, "name", entry.name());
    append_field(json, "path", entry.path);
    append_field(json, "type", "file");
    append_metadata(json, entry);
    json += '}';
}

void append_change(std::string& json, const core::FileChange& change) {
    json += '{';
    append_field(json, "name", change.name);
    append_field(json, "type", event_name(change.kind));
    if (change.entry) {
        json += R"(,"entry":)";
        append_entry(json, *change.entry);
    }
    json += '}';
}

}  // namespace oyat::e2b
