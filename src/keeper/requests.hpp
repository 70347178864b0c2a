#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/parent.hpp"
#include "keeper/audit_files.hpp"
#include "keeper/boxes.hpp"
#include "keeper/brakes.hpp"
#include "keeper/census.hpp"
#include "keeper/control_socket.hpp"
#include "keeper/limit_policy.hpp"
#include "keeper/operator_door.hpp"
#include "keeper/template_work.hpp"
#include "layers/store.hpp"
#include "layers/templates.hpp"

namespace oyat::keeper {

// Carries out what oyatd asks, one method an order, and turns failures into replies. Checks that every string
// is an id, a digest or a plain name before anybody else sees it.
class Requests {
public:
    struct Rooms {
        Boxes& boxes;
        const Engines& engines;
        const Snapshots& snapshots;
        Brakes& brakes;
        layers::Templates& templates;
        layers::Store& store;
        const cgroup::Parent& groups;
        Census& census;
        const AuditFiles& audit;
        TemplateWork& work;
        TemplateWork& searches;  // of their own, so that sandboxes can't keep templates waiting
        const LimitPolicy& limits;
        ControlSocket& socket;
        std::vector<std::string> probes;
        std::string state_id;
        std::string kernel;
    };

    explicit Requests(Rooms rooms) : rooms_{std::move(rooms)} {}

    void handle(ClientId client, const wire::KeeperRequest& request, std::vector<Fd> fds);
    // Of the operator himself. oyatd is told that something was done.
    void handle(const wire::KeeperRequest& request, const OperatorDoor::Reply& reply);

private:
    struct Answer {
        wire::KeeperReply reply;
        std::vector<Fd> fds;
    };
    using LateAnswer = std::function<void(Answer)>;
    using LateReply = std::function<void(wire::KeeperReply)>;

    // The answer, or nothing when it comes later through `late`.
    [[nodiscard]] Fd first_record(const std::string& id);
    [[nodiscard]] std::optional<Answer> carry_out(const wire::KeeperRequest& request, std::vector<Fd> fds,
                                                  const LateAnswer& late);
    // Those of sandboxes on disk, which take long. False when it is none of them.
    [[nodiscard]] bool carry_out_on_disk(const wire::KeeperRequest& request, const LateAnswer& late);
    void create(const wire::CreateBox& order, const LateAnswer& late);
    void pull_brake(const wire::PullBrake& order, const LateReply& late);
    void import_template(const wire::ImportTemplate& order, Fd archive, const LateReply& late);
    void export_template(const wire::ExportTemplate& order, Fd archive, const LateReply& late);
    void search_packages(const std::string& id, Fd into, const LateReply& late);
    void remove_template(const wire::RemoveTemplate& order);
    [[nodiscard]] wire::TemplateList list_templates() const;
    [[nodiscard]] wire::SnapshotList list_snapshots(const std::string& after) const;
    [[nodiscard]] std::vector<wire::EngineInfo> engines() const;
    [[nodiscard]] wire::KeeperInfo info() const;
    [[nodiscard]] std::vector<wire::LimitInfo> limits() const;

    Rooms rooms_;
};

}  // namespace oyat::keeper
