#include "keeper/snapshots.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::keeper {

Snapshots::Snapshots(const std::string& dir, const Rooms& rooms)
    : rooms_{rooms}, dir_{layers::make_directory(AT_FDCWD, dir, 0700)} {}

const wire::SnapshotInfo& Snapshots::find(std::string_view id) const {
    const auto found = all_.find(id);
    if (found == all_.end()) throw Error{Errc::not_found, "no such snapshot"};
    return found->second;
}

void Snapshots::keep(const wire::SnapshotInfo& snapshot) {
    in("snapshot " + snapshot.id, [&] {
        layers::replace_file(dir_.get(), snapshot.id, wire::encode(snapshot));
        sys(::fsync(dir_.get()), "sync the directory");
    });
    all_.insert_or_assign(snapshot.id, snapshot);
}

void Snapshots::remove(std::string_view id) {
    const auto found = all_.find(id);
    if (found == all_.end()) throw Error{Errc::not_found, "no such snapshot"};
    in("snapshot " + found->first, [&] {
        sys(::unlinkat(dir_.get(), found->first.c_str(), 0), "remove the manifest");
        sys(::fsync(dir_.get()), "sync the directory");
    });
    const std::string name = found->first;
    all_.erase(found);
    drop_parts(name);
}

void Snapshots::drop_parts(std::string_view id) const noexcept {
    try {
        rooms_.store.drop(id);
        rooms_.memories.remove(id);
    } catch (const Error& error) {  // the next start finds them by their name
        log::error("parts of a snapshot were not removed",
                   {{"id", std::string{id}}, {"why", error.message()}});
    }
}

void Snapshots::recover() {
    const std::vector<std::string> disks = rooms_.store.saved();
    for (const std::string& name : layers::names_in(dir_.get())) {
        Result<wire::SnapshotInfo> read =
            wire::decode<wire::SnapshotInfo>(layers::read_file(dir_.get(), name));
        if (!is_snapshot_id(name) || !read || read->id != name || !std::ranges::binary_search(disks, name) ||
            (read->memory && !rooms_.memories.has(name))) {
            log::error("removing a snapshot that is not whole", {{"id", name}});
            ::unlinkat(dir_.get(), name.c_str(), 0);
            continue;
        }
        all_.insert_or_assign(name, *std::move(read));
    }
    for (const std::string& name : disks) {
        if (!all_.contains(name)) drop_parts(name);
    }
    for (const std::string& name : rooms_.memories.ids()) {
        if (is_snapshot_id(name) && !all_.contains(name)) rooms_.memories.remove(name);
    }
}

}  // namespace oyat::keeper
