#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keeper/box.hpp"
#include "keeper/making.hpp"
#include "keeper/rooms.hpp"

namespace oyat::keeper {

// Makes boxes somebody's sandboxes, looks after them, and takes them apart again. How one is put together is
// `making.hpp`.
class BoxFactory {
public:
    explicit BoxFactory(const Rooms& rooms) : rooms_{rooms} {}

    // Throws when the disk below the store is nearly full: those who run are to go on (threats X-10).
    void require_room() const;

    // Begins to put a box together; what comes of it is `pooled`, or what the plan's record says when the box
    // was there before. Throws, and leaves nothing, when the first steps fail.
    [[nodiscard]] std::unique_ptr<Making> begin(Plan plan) const;
    // A new box of the template.
    [[nodiscard]] Plan plan(std::string template_digest, std::string engine,
                            const wire::BoxLimits& limits) const {
        return plan_for(std::move(template_digest), std::move(engine), limits, rooms_.boot_id);
    }

    // What /proc says inside, ahead of the request for a box that goes to the pool.
    void show_facts(Box& box) const;

    // Turns a pooled box into somebody's sandbox: its limits, what /proc says, its record.
    void hand_out(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag);

    // Changes the limits of a box in use.
    void set_limits(Box& box, const wire::BoxLimits& limits);

    // Writes a record as it is now; what stands on disk alone is kept over a power cut.
    void keep(const BoxRecord& record) const {
        record.stage == Stage::stored ? rooms_.records.write_durably(record) : rooms_.records.write(record);
    }
    void keep(const Box& box) const { keep(box.record); }

    // As it is to be after a power cut, too.
    void keep_durably(const BoxRecord& record) const { rooms_.records.write_durably(record); }

    // The box that a record speaks of, if its process lives.
    [[nodiscard]] std::optional<Box> adopt(const BoxRecord& record);

    // Gives back what is only ours to give: the range of ids of a box whose processes are gone.
    void release(const Box& box) noexcept;

    // A new connection to its agent.
    [[nodiscard]] Fd connect_agent(const Box& box) const;

    [[nodiscard]] engine::Engine& engine_of(const BoxRecord& record) const {
        return rooms_.engines.named(record.engine);
    }
    [[nodiscard]] const Rooms& rooms() const { return rooms_; }

    [[nodiscard]] wire::BoxStats stats(const Box& box) const;
    // Brings what /proc says inside up to date.
    void refresh_facts(const Box& box, const wire::BoxStats& stats) const;

    // Removes what a box whose processes are gone has left, its record last. False while the kernel still
    // holds a part: call again later.
    [[nodiscard]] bool dismantle(std::string_view id);
    // The same, but that its disk, its memory and its record stay.
    [[nodiscard]] bool take_down(std::string_view id);

private:
    void enforce(const Box& box, const wire::BoxLimits& limits) const;
    void tell(const Box& box, const wire::BoxStats& stats, engine::Engine::Told what) const;

    const Rooms& rooms_;
};

}  // namespace oyat::keeper
