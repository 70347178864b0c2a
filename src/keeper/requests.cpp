#include "keeper/requests.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/package_search.hpp"

namespace oyat::keeper {
namespace {

wire::KeeperReply failure(const Error& error) {
    wire::KeeperReply reply;
    reply.code = static_cast<std::uint32_t>(error.code()) + 1;
    reply.fault = static_cast<std::uint32_t>(error.fault()) + 1;
    reply.message = error.message();
    return reply;
}

std::string checked_id(const std::string& id) {
    if (!is_sandbox_id(id)) throw Error{Errc::invalid_argument, "not a sandbox id"};
    return id;
}

std::string checked_snapshot(const std::string& id) {
    if (!is_snapshot_id(id)) throw Error{Errc::invalid_argument, "not a snapshot id"};
    return id;
}

std::string checked_digest(const std::string& digest) {
    if (!layers::is_digest(digest)) throw Error{Errc::invalid_argument, "not a template digest"};
    return digest;
}

void check_name(const std::string& name) {
    if (!name.empty() && !is_plain_name(name))
        throw Error{Errc::invalid_argument, "names are [a-z0-9-]{1,40}"};
}

wire::TemplateInfo info_of(const layers::TemplateMeta& meta) {
    return {.digest = meta.digest,
            .name = meta.name,
            .bytes = meta.bytes,
            .files = meta.files,
            .created_ms = meta.created_ms};
}

wire::KeeperReply reply_of(Result<layers::TemplateMeta> outcome) {
    if (!outcome) return failure(outcome.error());
    wire::KeeperReply reply;
    reply.template_info = info_of(*outcome);
    return reply;
}

}  // namespace

void Requests::handle(ClientId client, const wire::KeeperRequest& request, std::vector<Fd> fds) {
    const LateAnswer late = [this, client, id = request.id](Answer answer) {
        answer.reply.id = id;
        rooms_.socket.reply(client, answer.reply, std::move(answer.fds));
    };
    std::optional<Answer> answer;
    try {
        answer = carry_out(request, std::move(fds), late);
    } catch (const Error& error) {
        if (error.code() == Errc::internal) log::error("a request failed", {{"why", error.message()}});
        answer = Answer{failure(error), {}};
    }
    if (!answer) return;
    answer->reply.id = request.id;
    rooms_.socket.reply(client, answer->reply, std::move(answer->fds));
}

void Requests::handle(const wire::KeeperRequest& request, const OperatorDoor::Reply& reply) {
    const LateAnswer late = [this, id = request.id, reply](Answer answer) {
        answer.reply.id = id;
        if (answer.reply.code == 0) rooms_.socket.event({.kind = wire::EventKind::brakes});
        reply(answer.reply);
    };
    try {
        std::optional<Answer> answer = carry_out(request, {}, late);
        if (request.kill) rooms_.brakes.note_killed(request.kill->id);
        if (!answer) return;
        answer->reply.id = request.id;
        reply(answer->reply);
    } catch (const Error& error) {
        wire::KeeperReply said = failure(error);
        said.id = request.id;
        reply(said);
    }
}

// Without it the box goes again.
Fd Requests::first_record(const std::string& id) {
    try {
        return rooms_.audit.open(id, 1);
    } catch (const Error&) {
        rooms_.boxes.kill(id, [](const wire::BoxStats&) {});
        throw;
    }
}

std::optional<Requests::Answer> Requests::carry_out(const wire::KeeperRequest& request, std::vector<Fd> fds,
                                                    const LateAnswer& late_answer) {
    const LateReply late = [late_answer](wire::KeeperReply reply) { late_answer({std::move(reply), {}}); };
    Answer answer;
    if (carry_out_on_disk(request, late_answer)) return std::nullopt;
    if (request.info) {
        answer.reply.info = info();
    } else if (request.create) {
        create(*request.create, late_answer);
        return std::nullopt;
    } else if (request.attach) {
        Boxes::Handed again = rooms_.boxes.attach(checked_id(request.attach->id));
        answer.reply.created = std::move(again.message);
        answer.fds = std::move(again.fds);
    } else if (request.list) {
        answer.reply.boxes = rooms_.boxes.list(request.list->after);
    } else if (request.kill) {
        rooms_.boxes.kill(checked_id(request.kill->id), [late](const wire::BoxStats& last) {
            wire::KeeperReply reply;
            reply.stats.emplace().stats.push_back(last);
            late(std::move(reply));
        });
        return std::nullopt;
    } else if (request.freeze) {
        rooms_.boxes.set_frozen(
            checked_id(request.freeze->id), request.freeze->frozen,
            [late](const Result<void>& done) { late(done ? wire::KeeperReply{} : failure(done.error())); });
        return std::nullopt;
    } else if (request.update) {
        rooms_.boxes.update(checked_id(request.update->id), request.update->limits);
    } else if (request.dial) {
        answer.fds.push_back(rooms_.boxes.dial(checked_id(request.dial->id), request.dial->port));
    } else if (request.stats) {
        answer.reply.stats.emplace().stats = rooms_.boxes.stats(request.stats->ids);
    } else if (request.open_audit) {
        answer.fds.push_back(rooms_.audit.open(request.open_audit->name, request.open_audit->segment));
    } else if (request.drop_audit) {
        rooms_.audit.drop(request.drop_audit->name, request.drop_audit->segment);
    } else if (request.list_templates) {
        answer.reply.templates = list_templates();
    } else if (request.import_template) {
        import_template(*request.import_template, std::move(fds.at(0)), late);
        return std::nullopt;
    } else if (request.export_template) {
        export_template(*request.export_template, std::move(fds.at(0)), late);
        return std::nullopt;
    } else if (request.remove_template) {
        remove_template(*request.remove_template);
    } else if (request.search_packages) {
        search_packages(checked_id(request.search_packages->id), std::move(fds.at(0)), late);
        return std::nullopt;
    } else if (request.brake) {
        pull_brake(*request.brake, late);
        return std::nullopt;
    } else if (request.brakes) {
        answer.reply.brakes = rooms_.brakes.facts();
    }
    return answer;
}

void Requests::create(const wire::CreateBox& order, const LateAnswer& late) {
    rooms_.brakes.require_release();
    if (order.from_snapshot.empty() || !order.template_digest.empty()) checked_digest(order.template_digest);
    if (!order.from_snapshot.empty()) checked_snapshot(order.from_snapshot);
    check_name(order.engine);
    check_name(order.owner_tag);
    rooms_.boxes.create(order, [this, late](Result<Boxes::Handed> made) {
        try {
            Answer answer;
            if (!made) throw made.error();
            answer.fds = std::move(made->fds);
            answer.fds.push_back(first_record(made->message.box.id));
            answer.reply.created = std::move(made->message);
            late(std::move(answer));
        } catch (const Error& error) {
            late({failure(error), {}});
        }
    });
}

bool Requests::carry_out_on_disk(const wire::KeeperRequest& request, const LateAnswer& late) {
    const auto tell = [late](const Result<void>& done) {
        late({done ? wire::KeeperReply{} : failure(done.error()), {}});
    };
    if (request.make_snapshot) {
        rooms_.boxes.make_snapshot(checked_id(request.make_snapshot->id), request.make_snapshot->memory,
                                   [late](Result<wire::SnapshotInfo> made) {
                                       Answer answer;
                                       if (made) answer.reply.snapshot = *std::move(made);
                                       if (!made) answer.reply = failure(made.error());
                                       late(std::move(answer));
                                   });
    } else if (request.list_snapshots) {
        Answer answer;
        answer.reply.snapshots = list_snapshots(request.list_snapshots->after);
        late(std::move(answer));
    } else if (request.remove_snapshot) {
        rooms_.boxes.remove_snapshot(checked_snapshot(request.remove_snapshot->id));
        tell({});
    } else if (request.store) {
        rooms_.boxes.store(checked_id(request.store->id), request.store->memory,
                           [late](const Result<wire::BoxStats>& last) {
                               Answer answer;
                               if (last) answer.reply.stats.emplace().stats.push_back(*last);
                               if (!last) answer.reply = failure(last.error());
                               late(std::move(answer));
                           });
    } else if (request.wake) {
        rooms_.brakes.require_release();
        rooms_.boxes.wake(checked_id(request.wake->id), [late](Result<Boxes::Handed> again) {
            if (!again) return late({failure(again.error()), {}});
            Answer answer;
            answer.fds = std::move(again->fds);
            answer.reply.created = std::move(again->message);
            late(std::move(answer));
        });
    } else if (request.reset) {
        if (!request.reset->snapshot.empty()) checked_snapshot(request.reset->snapshot);
        rooms_.boxes.reset(checked_id(request.reset->id), request.reset->snapshot, tell);
    } else {
        return false;
    }
    return true;
}

wire::SnapshotList Requests::list_snapshots(const std::string& after) const {
    constexpr std::size_t kMost = 300;  // a packet's worth
    wire::SnapshotList list;
    const auto& all = rooms_.snapshots.all();
    for (auto at = all.upper_bound(after); at != all.end(); ++at) {
        if (list.snapshots.size() == kMost) {
            list.more = true;
            break;
        }
        list.snapshots.push_back(at->second);
    }
    return list;
}

void Requests::pull_brake(const wire::PullBrake& order, const LateReply& late) {
    for (const std::string& id : order.ids) checked_id(id);
    if (order.all != order.ids.empty()) throw Error{Errc::invalid_argument, "a brake is for all or for some"};
    rooms_.brakes.pull(order, [late](Result<wire::BrakeFacts> said) {
        wire::KeeperReply reply = said ? wire::KeeperReply{} : failure(said.error());
        if (said) reply.brakes = *std::move(said);
        late(std::move(reply));
    });
}

// --- templates
// ----------------------------------------------------------------------------------------------

wire::TemplateList Requests::list_templates() const {
    wire::TemplateList list;
    for (const layers::TemplateMeta& meta : rooms_.templates.list()) list.templates.push_back(info_of(meta));
    return list;
}

void Requests::import_template(const wire::ImportTemplate& order, Fd archive, const LateReply& late) {
    check_name(order.name);
    if (!order.digest.empty()) checked_digest(order.digest);
    rooms_.work.require_room();
    const auto tell = [this, name = order.name](const layers::Job::Progress& progress) {
        rooms_.socket.event({.kind = wire::EventKind::template_progress,
                             .id = name,
                             .count = static_cast<std::uint32_t>(progress.files),
                             .text = std::to_string(progress.bytes)});
    };
    rooms_.work.start(rooms_.templates.import(order.name, order.digest, std::move(archive)), tell,
                      [late](Result<layers::TemplateMeta> outcome) { late(reply_of(std::move(outcome))); });
}

void Requests::export_template(const wire::ExportTemplate& order, Fd archive, const LateReply& late) {
    rooms_.work.require_room();
    rooms_.work.start(
        rooms_.templates.export_to(checked_digest(order.digest), std::move(archive)),
        [](const layers::Job::Progress&) {},
        [late](Result<layers::TemplateMeta> outcome) { late(reply_of(std::move(outcome))); });
}

void Requests::search_packages(const std::string& id, Fd into, const LateReply& late) {
    const auto box = rooms_.boxes.all().find(id);
    if (box == rooms_.boxes.all().end()) throw Error{Errc::not_found, "no such sandbox"};
    rooms_.searches.require_room();
    rooms_.searches.start(
        layers::search_packages(rooms_.store.box(id),
                                rooms_.templates.layers(box->second.record.template_digest), std::move(into)),
        [](const layers::Job::Progress&) {},
        [late](Result<layers::TemplateMeta> outcome) {
            wire::KeeperReply reply = outcome ? wire::KeeperReply{} : failure(outcome.error());
            if (outcome) reply.packages = wire::PackagesFound{.bytes = outcome->bytes};
            late(std::move(reply));
        });
}

void Requests::remove_template(const wire::RemoveTemplate& order) {
    if (rooms_.boxes.uses_template(checked_digest(order.digest))) {
        throw Error{Errc::failed_precondition, "a sandbox made of this template is alive"};
    }
    rooms_.boxes.cool_down(order.digest);
    rooms_.templates.remove(order.digest);
    for (engine::Engine* each : rooms_.engines.all()) each->template_gone(order.digest);
}

// --- what this server is
// ------------------------------------------------------------------------------------

std::vector<wire::LimitInfo> Requests::limits() const {
    const wire::BoxLimits& normal = rooms_.limits.defaults;
    const wire::BoxLimits& most = rooms_.limits.maximum;
    struct Figures {
        std::string_view name;
        std::uint64_t normal, most;
    };
    const std::array figures{Figures{"memory", normal.memory_bytes, most.memory_bytes},
                             Figures{"cpu", normal.cpu_millis, most.cpu_millis},
                             Figures{"processes", normal.processes, most.processes},
                             Figures{"io", normal.io_bytes_per_second, most.io_bytes_per_second}};
    std::vector<wire::LimitInfo> all;
    for (const cgroup::Mechanism& mechanism : rooms_.groups.mechanisms()) {
        const auto* const found =
            std::ranges::find(figures, std::string_view{mechanism.limit}, &Figures::name);
        all.push_back({.name = mechanism.limit,
                       .mechanism = mechanism.by,
                       .hard = mechanism.hard,
                       .default_value = found != figures.end() ? found->normal : 0,
                       .maximum = found != figures.end() ? found->most : 0});
    }
    const layers::StoreFacts& store = rooms_.store.facts();
    all.push_back({.name = "disk_bytes",
                   .mechanism = store.disk_limit_by,
                   .hard = store.bytes_hard,
                   .default_value = normal.disk_bytes,
                   .maximum = most.disk_bytes});
    all.push_back({.name = "disk_inodes",
                   .mechanism = store.inodes_hard ? store.disk_limit_by : store.inodes_by,
                   .hard = store.inodes_hard,
                   .default_value = normal.disk_inodes,
                   .maximum = most.disk_inodes});
    all.push_back({.name = "open_files",
                   .mechanism = "RLIMIT_NOFILE of each process",
                   .hard = true,
                   .default_value = rooms_.limits.open_files,
                   .maximum = rooms_.limits.open_files});
    return all;
}

std::vector<wire::EngineInfo> Requests::engines() const {
    std::vector<wire::EngineInfo> all;
    for (const engine::Engine* each : rooms_.engines.all()) all.push_back(each->info());
    return all;
}

wire::KeeperInfo Requests::info() const {
    const Census::Figures census = rooms_.census.take(rooms_.boxes);
    return {.version = wire::kKeeperVersion,
            .state_id = rooms_.state_id,
            .kernel = rooms_.kernel,
            .engines = engines(),
            .limits = limits(),
            .probes = rooms_.probes,
            .held = census.held,
            .pooled = census.pooled,
            .trash = static_cast<std::uint32_t>(rooms_.store.trash()),
            .cgroup_mode = std::string{cgroup::to_string(rooms_.groups.mode())}};
}

}  // namespace oyat::keeper
