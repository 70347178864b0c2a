#include "agent/file_streams.hpp"
#include "agent/places.hpp"
#include "agent/slice.hpp"
#include "agent/tree_removal.hpp"

namespace oyat::agent {
namespace {

class RemoveStream final : public Stream {
public:
    RemoveStream(FileJob& job, TreeRemoval removal, bool must_exist)
        : Stream{job.connection, job.id},
          user_{std::move(job.actor.user)},
          removal_{std::move(removal)},
          must_exist_{must_exist},
          steps_{job.loop, [this] { step(); }} {}

    void writable() override { steps_.resume(); }

private:
    void step() {
        const ActingAs acting{user_};
        const Slice slice;
        Status status;
        while (status.code == 0 && !removal_.done()) {
            if (!slice.left()) return;
            status = removal_.advance();
        }
        if (status.err == ENOENT && !must_exist_) status = {};
        steps_.pause();
        end(status);
    }

    User user_;
    TreeRemoval removal_;
    bool must_exist_;
    Steps steps_;
};

}  // namespace

Answer<std::unique_ptr<Stream>> remove_path(FileJob job, const wire::Remove& request) {
    const Answer<std::string> path = job.actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    if (*path == "/") return refused(Errc::invalid_argument, "the root directory cannot be removed", EBUSY);
    const ActingAs acting{job.actor.user};
    Answer<Place> place = place_of(*path);
    if (!place) {
        const bool missing = place.error().err == ENOENT && !request.must_exist;
        return std::unexpected{missing ? Status{} : std::move(place).error()};
    }
    TreeRemoval removal{job.loop, *std::move(place), *path};
    return std::make_unique<RemoveStream>(job, std::move(removal), request.must_exist);
}

}  // namespace oyat::agent
