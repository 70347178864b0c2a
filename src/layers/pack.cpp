#include "layers/pack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/throwing.hpp"
#include "layers/tree_walk.hpp"

namespace oyat::layers {
namespace {

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

void check(int result, archive* handle) {
    if (result >= ARCHIVE_OK) return;
    throw Error{Errc::internal, std::string{"write archive: "} + archive_error_string(handle)};
}

Writer open_writer(int archive_fd) {
    Writer writer{archive_write_new(), archive_write_free};
    archive* const handle = writer.get();
    check(archive_write_set_format_pax(handle), handle);
    check(archive_write_add_filter_zstd(handle), handle);
    check(archive_write_set_bytes_in_last_block(handle, 1), handle);  // no padding behind the compressed end
    check(archive_write_open_fd(handle, archive_fd), handle);
    return writer;
}

class Packing {
public:
    Packing(int archive_fd, const OnArchiveProgress& on_progress)
        : on_progress_{on_progress}, writer_{open_writer(archive_fd)} {}

    void run() {
        const Fd root{sys(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open tree")};
        walk_tree(root.get(), [&](const TreeEntry& entry) { add(entry); });
        check(archive_write_close(writer_.get()), writer_.get());
    }

private:
    void add(const TreeEntry& found) {
        const Entry entry{archive_entry_new(), archive_entry_free};
        archive_entry_copy_stat(entry.get(), &found.facts);
        archive_entry_set_pathname(entry.get(), found.path == "." ? "./" : ("./" + found.path).c_str());
        const std::string linked = first_name(found);
        Fd file;
        if (!linked.empty()) {
            archive_entry_set_hardlink(entry.get(), ("./" + linked).c_str());
            archive_entry_set_size(entry.get(), 0);
        } else if (S_ISLNK(found.facts.st_mode)) {
            archive_entry_set_symlink(entry.get(), link_target(found).c_str());
        } else if (S_ISREG(found.facts.st_mode) || S_ISDIR(found.facts.st_mode)) {
            file = open_entry(found);
            for (const auto& [name, value] : content_xattrs(file.get())) {
                archive_entry_xattr_add_entry(entry.get(), name.c_str(), value.data(), value.size());
            }
        }
        check(archive_write_header(writer_.get(), entry.get()), writer_.get());
        if (file && S_ISREG(found.facts.st_mode)) copy_data(file.get());
        ++done_.files;
        on_progress_(done_);
    }

    // The path under which a file with several names was added already, or "".
    std::string first_name(const TreeEntry& found) {
        if (!S_ISREG(found.facts.st_mode) || found.facts.st_nlink < 2) return {};
        const auto [known, added] = names_.try_emplace({found.facts.st_dev, found.facts.st_ino}, found.path);
        return added ? std::string{} : known->second;
    }

    void copy_data(int file) {
        std::array<char, 256 * 1024> buffer;
        while (const ssize_t got = sys(::read(file, buffer.data(), buffer.size()), "read file in tree")) {
            const auto size = static_cast<std::size_t>(got);
            if (archive_write_data(writer_.get(), buffer.data(), size) < 0)
                check(ARCHIVE_FATAL, writer_.get());
            done_.bytes += size;
            on_progress_(done_);
        }
    }

    const OnArchiveProgress& on_progress_;
    Writer writer_;
    ArchiveProgress done_;
    std::map<std::pair<dev_t, ino_t>, std::string> names_;
};

}  // namespace

void pack(int archive_fd, const OnArchiveProgress& on_progress) {
    in("pack tree", [&] { Packing{archive_fd, on_progress}.run(); });
}

}  // namespace oyat::layers
