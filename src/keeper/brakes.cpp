#include "keeper/brakes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr std::size_t kMostKilled = 1000;  // the newest; older ones oyatd has heard of long since
constexpr std::size_t kMaxFile = 64 * 1024;

std::string read_all(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) {
        if (errno == ENOENT) return {};
        throw errno_error(errno, "open " + path);
    }
    std::string bytes(kMaxFile, '\0');
    bytes.resize(
        static_cast<std::size_t>(sys(::read(file.get(), bytes.data(), bytes.size()), "read " + path)));
    return bytes;
}

}  // namespace

// A file that can't be understood must not read as "nothing is held": the keeper does not start.
Brakes::Brakes(std::string file, std::string state_id, Boxes& boxes)
    : file_{std::move(file)}, state_id_{std::move(state_id)}, boxes_{boxes} {
    Result<Kept> kept = wire::decode<Kept>(read_all(file_));
    if (!kept) {
        throw Error{Errc::failed_precondition, Fault::oyat_operator,
                    file_ + " can't be understood; remove it to lift the brakes that it holds"};
    }
    kept_ = *std::move(kept);
}

void Brakes::hold_again() {
    if (!kept_.stopped) return;
    boxes_.hold(boxes_.owned_ids(), [](const std::vector<std::string>& moving) {
        if (!moving.empty()) log::warn("not all sandboxes stand still", {{"moving", moving.size()}});
    });
}

void Brakes::pull(const wire::PullBrake& order, const Reply& done) {
    const std::vector<std::string> ids = order.all ? boxes_.owned_ids() : order.ids;
    if (order.all) note(order.brake);
    // A full disk is no reason to let anything run on.
    const Result<void> kept = order.all ? keep() : Result<void>{};
    const auto answer = [done, kept](wire::BrakeFacts said) {
        if (!kept) return done(std::unexpected{kept.error()});
        done(std::move(said));
    };
    switch (order.brake) {
        case wire::Brake::hold:
            boxes_.hold(ids, [this, answer, count = ids.size()](std::vector<std::string> moving) {
                wire::BrakeFacts said = facts();
                said.held = static_cast<std::uint32_t>(count);
                said.moving = std::move(moving);
                answer(std::move(said));
            });
            return;
        case wire::Brake::release: boxes_.release(ids); break;
        // Those of all stand in one place; lifted from all, a brake is lifted from each as well.
        case wire::Brake::cut_egress:
            if (!order.all) boxes_.set_egress_off(ids, true);
            break;
        case wire::Brake::open_egress: boxes_.set_egress_off(ids, false); break;
        default: throw Error{Errc::invalid_argument, "there is no such brake"};
    }
    answer(facts());
}

void Brakes::note(wire::Brake brake) {
    if (brake == wire::Brake::hold || brake == wire::Brake::release) {
        kept_.stopped = brake == wire::Brake::hold;
    } else if (brake == wire::Brake::cut_egress || brake == wire::Brake::open_egress) {
        kept_.egress_off = brake == wire::Brake::cut_egress;
    }
}

wire::BrakeFacts Brakes::facts() const {
    return {.state_id = state_id_,
            .stopped = kept_.stopped,
            .egress_off = kept_.egress_off,
            .killed = kept_.killed};
}

void Brakes::require_release() const {
    if (!kept_.stopped) return;
    throw Error{Errc::unavailable, Fault::oyat_operator,
                "the operator has stopped this server; 'oyat thaw --all' lets it go on"};
}

void Brakes::note_killed(const std::string& id) {
    kept_.killed.push_back(id);
    if (kept_.killed.size() > kMostKilled) kept_.killed.erase(kept_.killed.begin());
    if (const Result<void> kept = keep(); !kept) log::warn(kept.error().message());
}

// Synced, and renamed into place: it must say the same after the machine lost its power.
Result<void> Brakes::keep() const {
    try {
        const std::string bytes = wire::encode(kept_);
        const std::string draft = file_ + ".new";
        const Fd file{
            sys(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "open " + draft)};
        if (sys(::write(file.get(), bytes.data(), bytes.size()), "write " + draft) !=
            static_cast<ssize_t>(bytes.size())) {
            throw Error{Errc::exhausted, Fault::oyat_operator, "the state's file system is full"};
        }
        sys(::fsync(file.get()), "sync " + draft);
        sys(::rename(draft.c_str(), file_.c_str()), "keep " + file_);
        return {};
    } catch (const Error& error) {
        return std::unexpected{Error{error}.in("the brake holds, but would not survive a restart")};
    }
}

}  // namespace oyat::keeper
