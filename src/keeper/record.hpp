#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// How far a box has come. What a killed keeper leaves behind is judged by it: only `handed_out` is taken up
// again, and of `stored` ones the disk is kept.
enum class Stage : std::uint8_t {
    none = 0,
    intended = 1,    // something of it may exist in the kernel, under its id
    pooled = 2,      // warm, belongs to nobody
    handed_out = 3,  // oyatd was told, or is about to be
    ending = 4,      // told to die; never written down, since the dead are found out
    stored = 5,      // its owner has it, on disk alone: what still runs of it is on its way out
    storing = 6,     // on its way there with its memory: as good as stored for the next keeper
};

// What survives the keeper: one small file per box.
struct BoxRecord {
    static constexpr bool kIsMessage = true;
    static constexpr std::uint32_t kFormat = 1;
    std::uint32_t format = 0;
    std::string id;
    Stage stage = Stage::none;
    std::uint64_t generation = 0;
    std::uint32_t pid = 0;
    std::uint64_t start_ticks = 0;
    std::string boot_id;  // pids and times start anew with the machine
    std::uint32_t uid_base = 0;
    std::string template_digest;
    wire::BoxLimits limits;
    std::string owner_tag;
    std::int64_t created_ms = 0;
    bool frozen = false;
    bool warm = false;
    bool held = false;        // by the operator; `frozen` is what was asked for besides
    bool egress_off = false;  // by the operator
    std::string engine = "jail";
    std::string reset_to;  // its disk is being put back: to that snapshot, or to its template ("template")
    template <class V>
    void fields(V& v) {
        v(1, format);
        v(2, id);
        v(3, stage);
        v(4, generation);
        v(5, pid);
        v(6, start_ticks);
        v(7, boot_id);
        v(8, uid_base);
        v(9, template_digest);
        v(10, limits);
        v(11, owner_tag);
        v(12, created_ms);
        v(13, frozen);
        v(14, warm);
        v(15, held);
        v(16, egress_off);
        v(17, engine);
        v(18, reset_to);
    }
};

// The directory of records, root's alone. A record is overwritten in place: a rename over the old one would
// make ext4 start to write it to the disk (auto_da_alloc, ext4(5)), a third of a millisecond in each create.
// They survive the death of processes, not a power cut: then the boxes are gone too, but for those that are
// paused or stored, whose records are synced.
class Records {
public:
    explicit Records(const std::string& dir);

    void write(const BoxRecord& record) const;
    // The same, synced: it survives a power cut.
    void write_durably(const BoxRecord& record) const;
    void remove(std::string_view id) const noexcept;

    // All that can be read, sorted by id. Files that are no records are removed: what they spoke of is found
    // in the kernel by its name.
    [[nodiscard]] std::vector<BoxRecord> read_all() const;

private:
    Fd dir_;
};

}  // namespace oyat::keeper
