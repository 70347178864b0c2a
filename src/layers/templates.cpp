#include "layers/templates.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/clock.hpp"
#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/background_removal.hpp"
#include "layers/child_job.hpp"
#include "layers/confine.hpp"
#include "layers/directory.hpp"
#include "layers/pack.hpp"
#include "layers/tree_digest.hpp"
#include "layers/unpack.hpp"

namespace oyat::layers {
namespace {

constexpr std::string_view kScheme = "sha256:";
// Trees that are not templates yet, or no more. What a crash left of them is removed at the next occasion.
constexpr std::string_view kUnfinished = "new-";
constexpr std::string_view kGone = "gone-";

std::string directory_of(std::string_view digest) {
    return std::string{digest.substr(kScheme.size())};
}

bool is_there(int dir, const std::string& name) {
    return ::faccessat(dir, name.c_str(), F_OK, 0) == 0;
}

// A new tree on its way in. While the lock on its directory is held, nobody takes it for a leftover.
struct Arrival {
    std::string name;
    Fd lock;
    Fd root;
};

Arrival make_arrival(int templates) {
    Arrival made{.name = std::string{kUnfinished} + random_hex(8)};
    made.lock = make_directory(templates, made.name, 0700);
    sys(::flock(made.lock.get(), LOCK_EX | LOCK_NB), "lock new template");
    made.root = make_directory(made.lock.get(), "root", 0755);
    sys(::fchmod(made.root.get(), 0755), "chmod new template");  // whatever the umask
    return made;
}

void remove_leftovers(int templates) {
    for (const std::string& name : names_in(templates)) {
        if (!name.starts_with(kUnfinished) && !name.starts_with(kGone)) continue;
        const Fd left{::openat(templates, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        if (left && ::flock(left.get(), LOCK_EX | LOCK_NB) == 0) remove_in_background(templates, name);
    }
}

// The children's part of an import. The one that reads the archive has no say in what the tree is called: its
// parent looks at the tree afterwards, in a confinement of its own.
void unpack_confined(int root, int archive, JobReporter& reporter) {
    run_apart(reporter, [&](JobReporter& unpacker) {
        prepare_for_archives();
        confine_to(root, {archive, unpacker.fd()});
        const auto tell = [&](const ArchiveProgress& at) { unpacker.progress(at.files, at.bytes); };
        unpack(archive, ArchiveCaps{}, tell);
    });
    confine_to(root, {reporter.fd()});
    const Fd tree{sys(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open tree")};
    const TreeSummary found = summarize_tree(tree.get());
    sys(::syncfs(tree.get()), "sync tree");
    reporter.done(found.files, found.bytes, found.digest);
}

void pack_confined(int root, int archive, JobReporter& reporter, const TemplateMeta& meta) {
    prepare_for_archives();
    confine_to(root, {archive, reporter.fd()});
    pack(archive, [&](const ArchiveProgress& at) { reporter.progress(at.files, at.bytes); });
    reporter.done(meta.files, meta.bytes, meta.digest);
}

}  // namespace

Templates::Templates(const std::string& dir)
    : fd_{in("open templates", [&] { return make_directories(dir); })}, names_{fd_.get()} {
    in("open templates", [&] { remove_leftovers(fd_.get()); });
}

std::optional<TemplateMeta> Templates::find(std::string_view name_or_digest) const {
    if (const std::optional<std::string> digest = names_.digest_of(name_or_digest)) {
        std::optional<TemplateMeta> named = read_meta(*digest);
        if (named) named->name = name_or_digest;
        return named;
    }
    std::optional<TemplateMeta> found = read_meta(name_or_digest);
    if (found) {
        const auto names = names_.by_digest();
        if (const auto own = names.find(found->digest); own != names.end()) found->name = own->second.front();
    }
    return found;
}

std::optional<TemplateMeta> Templates::read_meta(std::string_view digest) const {
    if (!is_digest(digest)) return std::nullopt;
    const std::string path = directory_of(digest) + "/meta.json";
    if (!is_there(fd_.get(), path)) return std::nullopt;
    return or_throw(parse_template_meta(read_file(fd_.get(), path)));
}

std::vector<TemplateMeta> Templates::list() const {
    const std::map<std::string, std::vector<std::string>> names = names_.by_digest();
    std::vector<TemplateMeta> all;
    for (const std::string& directory : names_in(fd_.get())) {
        std::optional<TemplateMeta> found = read_meta(std::string{kScheme} + directory);
        if (!found) continue;
        const auto own = names.find(found->digest);
        if (own == names.end()) {
            all.push_back(*std::move(found));
            continue;
        }
        for (const std::string& name : own->second) {
            found->name = name;
            all.push_back(*found);
        }
    }
    return all;
}

std::vector<Fd> Templates::layers(std::string_view digest) const {
    if (!read_meta(digest)) throw Error{Errc::not_found, "no such template"};
    const std::string root = directory_of(digest) + "/root";
    std::vector<Fd> chain;
    chain.emplace_back(sys(::openat(fd_.get(), root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                           "open template"));
    return chain;
}

std::unique_ptr<Job> Templates::import(std::string name, std::string expected, Fd archive) {
    if (!name.empty() && !is_template_name(name))
        throw Error{Errc::invalid_argument, "a template's name is [a-z0-9-]{1,40}"};
    if (!expected.empty() && !is_digest(expected))
        throw Error{Errc::invalid_argument, "a digest is sha256:<64 hex>"};
    auto arrival = std::make_shared<Arrival>(make_arrival(fd_.get()));
    auto work = [&](JobReporter& reporter) { unpack_confined(arrival->root.get(), archive.get(), reporter); };
    auto finish = [this, arrival, name, expected](const std::string& digest, Job::Progress counted) {
        if (!expected.empty() && digest != expected) {
            throw Error{Errc::invalid_argument, "the archive's digest is " + digest};
        }
        const TemplateMeta meta{.digest = digest,
                                .files = counted.files,
                                .bytes = counted.bytes,
                                .created_ms = unix_millis(SystemClock{}.wall())};
        return keep(arrival->name, meta, name);
    };
    auto abandon = [this, arrival] { remove_in_background(fd_.get(), arrival->name); };
    return std::make_unique<ChildJob>(work, finish, abandon);
}

// Files an unpacked tree under its digest; when that is there already, the new one is not needed. The name
// comes last, so that it never stands for a tree that is not on the disk.
TemplateMeta Templates::keep(const std::string& arrival, const TemplateMeta& meta, const std::string& name) {
    const std::string home = directory_of(meta.digest);
    replace_file(fd_.get(), arrival + "/meta.json", to_json(meta));
    const auto rename = [&](const std::string& from, const std::string& to) {
        return ::renameat2(fd_.get(), from.c_str(), fd_.get(), to.c_str(), RENAME_NOREPLACE) == 0;
    };
    const bool fresh = rename(arrival, home);
    if (!fresh && errno != EEXIST) throw errno_error(errno, "rename template");
    Defer take_back{[&] {
        if (fresh) rename(home, arrival);
    }};
    if (!fresh) remove_in_background(fd_.get(), arrival);
    sys(::fsync(fd_.get()), "sync templates");
    if (!name.empty()) names_.point(name, meta.digest);
    take_back.dismiss();
    TemplateMeta kept = read_meta(meta.digest).value();
    kept.name = name;
    return kept;
}

std::unique_ptr<Job> Templates::export_to(std::string_view digest, Fd archive) {
    const std::optional<TemplateMeta> meta = find(digest);
    if (!meta) throw Error{Errc::not_found, "no such template"};
    // Locked for as long as the job lives: remove() must not take files from below it.
    const auto root = std::make_shared<Fd>(open_directory(fd_.get(), directory_of(meta->digest) + "/root"));
    sys(::flock(root->get(), LOCK_SH | LOCK_NB), "lock template");
    auto work = [&](JobReporter& reporter) { pack_confined(root->get(), archive.get(), reporter, *meta); };
    auto finish = [root, meta = *meta](const std::string&, Job::Progress) { return meta; };
    return std::make_unique<ChildJob>(work, finish, [] {});
}

void Templates::remove(std::string_view digest) {
    const std::optional<TemplateMeta> meta = read_meta(digest);
    if (!meta) throw Error{Errc::not_found, "no such template"};
    const std::string home = directory_of(meta->digest);
    const Fd root = open_directory(fd_.get(), home + "/root");
    if (::flock(root.get(), LOCK_EX | LOCK_NB) != 0) {
        throw Error{Errc::failed_precondition, "the template is being exported"};
    }
    names_.drop(meta->digest);
    const std::string gone = std::string{kGone} + random_hex(8);
    sys(::renameat(fd_.get(), home.c_str(), fd_.get(), gone.c_str()), "remove template");
    remove_in_background(fd_.get(), gone);
}

}  // namespace oyat::layers
