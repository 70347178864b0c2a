#include "layers/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

constexpr std::size_t kReadBytes = 128 * 1024;
constexpr int kRestore = ARCHIVE_EXTRACT_OWNER | ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
                         ARCHIVE_EXTRACT_XATTR | ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                         ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;

// Warnings count as failures: an owner or an attribute that could not be restored would change the content
// silently.
void check(int result, archive* handle, const std::string& what) {
    if (result >= ARCHIVE_OK) return;
    const char* why = archive_error_string(handle);
    throw Error{Errc::invalid_argument, what + ": " + printable(why == nullptr ? "unreadable" : why)};
}

Reader open_reader(int archive_fd) {
    Reader reader{archive_read_new(), archive_read_free};
    archive* const handle = reader.get();
    check(archive_read_support_format_tar(handle), handle, "tar");
    check(archive_read_support_filter_gzip(handle), handle, "gzip");
    check(archive_read_support_filter_xz(handle), handle, "xz");
    check(archive_read_support_filter_zstd(handle), handle, "zstd");
    check(archive_read_open_fd(handle, archive_fd, kReadBytes), handle, "open archive");
    return reader;
}

// Leaves only the attributes that belong to a template.
void filter_xattrs(archive_entry* entry) {
    std::vector<std::pair<std::string, std::string>> kept;
    archive_entry_xattr_reset(entry);
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
        switch (fate_of_xattr(name)) {
            case XattrFate::keep:
                kept.emplace_back(name, std::string{static_cast<const char*>(value), size});
                break;
            case XattrFate::drop: break;
            case XattrFate::refuse:
                throw Error{Errc::invalid_argument, "the archive sets the attribute " + printable(name)};
        }
    }
    archive_entry_xattr_clear(entry);
    for (const auto& [key, bytes] : kept)
        archive_entry_xattr_add_entry(entry, key.c_str(), bytes.data(), bytes.size());
}

std::string_view text_or_empty(const char* text) {
    return text == nullptr ? std::string_view{} : text;
}

// Brings an entry to the form that is unpacked, or throws for the rule that it breaks.
void apply_rules(archive_entry* entry) {
    const std::string path = or_throw(path_in_root(text_or_empty(archive_entry_pathname(entry))));
    archive_entry_set_pathname(entry, path.c_str());
    or_throw(check_owner(archive_entry_uid(entry), archive_entry_gid(entry)));
    filter_xattrs(entry);
    if (const char* target = archive_entry_hardlink(entry)) {
        archive_entry_set_hardlink(entry, or_throw(path_in_root(target)).c_str());
        return;  // a link has no type of its own
    }
    in("entry '" + printable(path) + "'", [&] {
        or_throw(check_type(archive_entry_mode(entry)));
        if (S_ISLNK(archive_entry_mode(entry))) {
            or_throw(check_link_target(text_or_empty(archive_entry_symlink(entry))));
        }
        if (path == "." && !S_ISDIR(archive_entry_mode(entry))) {
            throw Error{Errc::invalid_argument, "the root is a directory"};
        }
    });
}

class Unpacking {
public:
    Unpacking(int archive_fd, const ArchiveCaps& caps, const OnArchiveProgress& on_progress)
        : caps_{caps},
          on_progress_{on_progress},
          reader_{open_reader(archive_fd)},
          writer_{archive_write_disk_new(), archive_write_free} {
        check(archive_write_disk_set_options(writer_.get(), kRestore), writer_.get(), "set up unpacking");
    }

    void run() {
        archive_entry* entry = nullptr;
        for (;;) {
            const int result = archive_read_next_header(reader_.get(), &entry);
            if (result == ARCHIVE_EOF) break;
            check(result, reader_.get(), "read archive");
            unpack_entry(entry);
        }
        if (done_.files == 0) throw Error{Errc::invalid_argument, "the archive is empty"};
        check(archive_write_close(writer_.get()), writer_.get(), "finish unpacking");
    }

private:
    void unpack_entry(archive_entry* entry) {
        apply_rules(entry);
        ++done_.files;
        judge_volume(static_cast<std::uint64_t>(archive_entry_size(entry)));
        const std::string what = "unpack '" + printable(archive_entry_pathname(entry)) + "'";
        check(archive_write_header(writer_.get(), entry), writer_.get(), what);
        copy_data(what);
        check(archive_write_finish_entry(writer_.get()), writer_.get(), what);
        on_progress_(done_);
    }

    void copy_data(const std::string& what) {
        const void* block = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        for (;;) {
            const int result = archive_read_data_block(reader_.get(), &block, &size, &offset);
            if (result == ARCHIVE_EOF) return;
            check(result, reader_.get(), what);
            done_.bytes += size;
            judge_volume(0);
            check(static_cast<int>(archive_write_data_block(writer_.get(), block, size, offset)),
                  writer_.get(), what);
        }
    }

    // `announced`: what the next file says it holds, refused before it is written.
    void judge_volume(std::uint64_t announced) {
        const auto read = static_cast<std::uint64_t>(archive_filter_bytes(reader_.get(), -1));
        or_throw(check_volume(caps_, done_.files, done_.bytes, read));
        if (announced > caps_.bytes - done_.bytes)
            throw Error{Errc::exhausted, "the archive holds too many bytes"};
    }

    const ArchiveCaps& caps_;
    const OnArchiveProgress& on_progress_;
    Reader reader_;
    Writer writer_;
    ArchiveProgress done_;
};

}  // namespace

void prepare_for_archives() {
    // Names in tar headers are UTF-8. In this locale they need no conversion, so no conversion module is ever
    // loaded.
    if (::setlocale(LC_CTYPE, "C.UTF-8") == nullptr)
        throw Error{Errc::internal, "the C.UTF-8 locale is missing"};
}

void unpack(int archive_fd, const ArchiveCaps& caps, const OnArchiveProgress& on_progress) {
    in("unpack archive", [&] { Unpacking{archive_fd, caps, on_progress}.run(); });
}

}  // namespace oyat::layers
