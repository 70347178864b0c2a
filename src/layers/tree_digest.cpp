#include "layers/tree_digest.hpp"

#include <unistd.h>

#include <array>
#include <string_view>

#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "layers/tree_walk.hpp"

namespace oyat::layers {
namespace {

std::string file_sha256(int file) {
    Sha256 hash;
    std::array<char, 256 * 1024> buffer;
    while (const ssize_t got = sys(::read(file, buffer.data(), buffer.size()), "read file in tree")) {
        hash.update({buffer.data(), static_cast<std::size_t>(got)});
    }
    return to_hex(hash.finish());
}

// Fields with their length in front, so that no two different entries can give the same bytes.
class Record {
public:
    Record& add(std::string_view field) {
        text_.append(std::to_string(field.size())).append(":").append(field).append(",");
        return *this;
    }
    Record& add(std::uint64_t number) { return add(std::to_string(number)); }
    [[nodiscard]] std::string line() const { return text_ + "\n"; }

private:
    std::string text_;
};

std::string_view type_letter(mode_t mode) {
    if (S_ISREG(mode)) return "f";
    if (S_ISDIR(mode)) return "d";
    if (S_ISLNK(mode)) return "l";
    if (S_ISFIFO(mode)) return "p";
    throw Error{Errc::invalid_argument, "the tree holds a device node or a socket"};
}

std::string record_of(const TreeEntry& entry) {
    const std::string_view type = type_letter(entry.facts.st_mode);
    Record record;
    record.add(entry.path)
        .add(type)
        .add(entry.facts.st_mode & 07777U)
        .add(entry.facts.st_uid)
        .add(entry.facts.st_gid);
    if (type == "l") record.add(link_target(entry));
    if (type == "f" || type == "d") {
        const Fd file = open_entry(entry);
        if (type == "f") record.add(file_sha256(file.get()));
        for (const auto& [name, value] : content_xattrs(file.get())) record.add(name).add(value);
    }
    return record.line();
}

}  // namespace

TreeSummary summarize_tree(int root) {
    TreeSummary summary;
    Sha256 hash;
    hash.update("oyat-tree-1\n");
    walk_tree(root, [&](const TreeEntry& entry) {
        hash.update(record_of(entry));
        if (entry.path != ".") ++summary.files;
        if (S_ISREG(entry.facts.st_mode)) summary.bytes += static_cast<std::uint64_t>(entry.facts.st_size);
    });
    summary.digest = "sha256:" + to_hex(hash.finish());
    return summary;
}

}  // namespace oyat::layers
