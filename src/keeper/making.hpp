#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/common/work.hpp"
#include "keeper/box.hpp"
#include "keeper/rooms.hpp"

namespace oyat::keeper {

struct Made {
    Box box;
    std::vector<wire::Phase> phases;
};

// What a box is to be made of.
struct Plan {
    BoxRecord record;  // its id, template, engine and limits; what stands in the kernel is filled in
    enum class Disk { fresh, of_snapshot, its_own } disk = Disk::fresh;
    std::string snapshot;  // with of_snapshot
    Fd memory;             // a directory that its engine wrote; none: it starts anew
};

// Puts one box together out of the rooms, part after part. Each part is named by the box's id, and the record
// is written before the first of them exists: whatever a killed keeper leaves is found by its name. When a
// step fails, or the work is given up, all of it is given back: the disk too, unless it was there before.
class Making final : public engine::Work<Made> {
public:
    Making(const Rooms& rooms, Plan plan);
    ~Making() override;
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

    [[nodiscard]] int fd() const noexcept override;
    [[nodiscard]] std::optional<Result<Made>> advance() override;

private:
    void take_disk();
    void start();
    [[nodiscard]] Made finish(engine::Process process);
    void give_back() noexcept;
    void on_failure(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

    const Rooms& rooms_;
    Plan plan_;
    engine::Engine& engine_;
    MonoTime last_;
    std::vector<wire::Phase> phases_;
    std::vector<std::function<void()>> undo_;  // in the order of what they undo

    std::vector<Fd> layers_;
    Fd operators_;
    layers::IdRange range_;
    Fd disk_;
    std::optional<netns::Netns> network_;
    std::optional<netns::Listeners> listeners_;
    std::optional<cgroup::Group> group_;
    std::unique_ptr<engine::Work<engine::Nothing>> filling_;
    std::unique_ptr<engine::Work<engine::Process>> starting_;
    std::optional<engine::Process> process_;

    void lap(const char* name);
};

// A box that is made of its template, as a plan.
[[nodiscard]] Plan plan_for(std::string template_digest, std::string engine, const wire::BoxLimits& limits,
                            const std::string& boot_id);

// A system call that was refused to us is nobody's policy and no client's mistake.
template <class Body>
auto making(const std::string& what, Body&& body) {
    try {
        return in(what, std::forward<Body>(body));
    } catch (Error& error) {
        if (error.fault() == Fault::limit) throw;
        throw std::move(error).because(Fault::engine);
    }
}

}  // namespace oyat::keeper
