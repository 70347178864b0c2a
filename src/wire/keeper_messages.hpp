#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/codec.hpp"
#include "wire/keeper_boxes.hpp"
#include "wire/keeper_facts.hpp"
#include "wire/keeper_snapshots.hpp"
#include "wire/keeper_templates.hpp"

// The messages between oyatd and oyat-keeper: one SOCK_SEQPACKET unix socket, one protobuf message a packet,
// at most kMaxKeeperPacket bytes, descriptors by SCM_RIGHTS. oyatd sends KeeperRequest, the keeper answers
// each with one KeeperReply of the same `id` (in any order) and sends KeeperEvents on its own.
//
// Rule (threats I6, D-03): the keeper takes ids and numbers, never a path, command line, mount option, nft
// text or address. Every string that oyatd sends is a sandbox id, a template digest or a name of
// [a-z0-9-]{1,40}.
namespace oyat::wire {

inline constexpr std::size_t kMaxKeeperPacket = 128 * 1024;
inline constexpr std::uint32_t kKeeperVersion = 1;
inline constexpr std::size_t kMaxKeeperFds = 8;

struct KeeperRequest {
    static constexpr bool kIsMessage = true;
    std::uint64_t id = 0;
    std::optional<GetInfo> info;
    std::optional<CreateBox> create;
    std::optional<ListBoxes> list;
    std::optional<AttachBox> attach;
    std::optional<KillBox> kill;
    std::optional<FreezeBox> freeze;
    std::optional<UpdateLimits> update;
    std::optional<DialBox> dial;
    std::optional<StatBoxes> stats;
    std::optional<OpenAudit> open_audit;
    std::optional<DropAudit> drop_audit;
    std::optional<ListTemplates> list_templates;
    std::optional<ImportTemplate> import_template;
    std::optional<ExportTemplate> export_template;
    std::optional<RemoveTemplate> remove_template;
    std::optional<PullBrake> brake;
    std::optional<GetBrakes> brakes;
    std::optional<SearchPackages> search_packages;
    std::optional<MakeSnapshot> make_snapshot;
    std::optional<ListSnapshots> list_snapshots;
    std::optional<RemoveSnapshot> remove_snapshot;
    std::optional<StoreBox> store;
    std::optional<WakeBox> wake;
    std::optional<ResetBox> reset;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, info);
        v(3, create);
        v(4, list);
        v(5, attach);
        v(6, kill);
        v(7, freeze);
        v(8, update);
        v(9, dial);
        v(10, stats);
        v(11, open_audit);
        v(12, drop_audit);
        v(13, list_templates);
        v(14, import_template);
        v(15, export_template);
        v(16, remove_template);
        v(17, brake);
        v(18, brakes);
        v(19, search_packages);
        v(20, make_snapshot);
        v(21, list_snapshots);
        v(22, remove_snapshot);
        v(23, store);
        v(24, wake);
        v(25, reset);
    }
};

// Exactly one of the orders, and an id to answer to (0 marks events).
[[nodiscard]] inline bool is_one_order(const KeeperRequest& r) {
    const int orders = r.info.has_value() + r.create.has_value() + r.list.has_value() + r.attach.has_value() +
                       r.kill.has_value() + r.freeze.has_value() + r.update.has_value() + r.dial.has_value() +
                       r.stats.has_value() + r.open_audit.has_value() + r.drop_audit.has_value() +
                       r.list_templates.has_value() + r.import_template.has_value() +
                       r.export_template.has_value() + r.remove_template.has_value() + r.brake.has_value() +
                       r.brakes.has_value() + r.search_packages.has_value() + r.make_snapshot.has_value() +
                       r.list_snapshots.has_value() + r.remove_snapshot.has_value() + r.store.has_value() +
                       r.wake.has_value() + r.reset.has_value();
    return orders == 1 && r.id != 0;
}

enum class EventKind : std::uint8_t {
    none = 0,
    died = 1,
    oom = 2,
    template_progress = 3,
    disk_full = 4,
    brakes = 5
};

// died: pid 1 of a sandbox ended though nobody asked; what is left is cleaned up. oom: the kernel killed
// `process` (its name and pid inside, when they could be seen) in the sandbox. template_progress: of an
// import, `id` is the name it was given, `count` the files and `text` the bytes so far. disk_full: left to
// stores that are only watched; a limit that the kernel holds shows in the figures. brakes: something was
// done at the operator's own door; oyatd asks what.
struct KeeperEvent {
    static constexpr bool kIsMessage = true;
    EventKind kind = EventKind::none;
    std::string id;
    std::string process;
    std::uint32_t pid = 0;
    std::uint32_t count = 0;
    std::string text;
    std::optional<BoxStats> last;
    template <class V>
    void fields(V& v) {
        v(1, kind);
        v(2, id);
        v(3, process);
        v(4, pid);
        v(5, count);
        v(6, text);
        v(7, last);
    }
};

// `code` is 0 or Errc + 1, `fault` is Fault + 1 (0: the default of the code).
struct KeeperReply {
    static constexpr bool kIsMessage = true;
    std::uint64_t id = 0;
    std::uint32_t code = 0;
    std::uint32_t fault = 0;
    std::string message;
    std::optional<KeeperInfo> info;
    std::optional<BoxCreated> created;
    std::optional<BoxList> boxes;
    std::optional<BoxStatsList> stats;
    std::optional<TemplateList> templates;
    std::optional<TemplateInfo> template_info;
    std::optional<KeeperEvent> event;  // set when id == 0: unsolicited
    std::optional<BrakeFacts> brakes;
    std::optional<PackagesFound> packages;
    std::optional<SnapshotInfo> snapshot;
    std::optional<SnapshotList> snapshots;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, code);
        v(3, fault);
        v(4, message);
        v(5, info);
        v(6, created);
        v(7, boxes);
        v(8, stats);
        v(9, templates);
        v(10, template_info);
        v(11, event);
        v(12, brakes);
        v(13, packages);
        v(14, snapshot);
        v(15, snapshots);
    }
};

}  // namespace oyat::wire
