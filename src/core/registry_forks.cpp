#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "core/json_text.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "core/sandbox_secrets.hpp"
#include "io/race.hpp"

// Copies of a sandbox that live beside it at once, and the way back of one to an earlier state.
namespace oyat::core {
namespace {

constexpr std::uint32_t kMostForks = 100;
constexpr std::size_t kAtOnce = 8;  // copies that are being made: others want the keeper, too

}  // namespace

// What a copy has of its source: its labels, its variables, its way out and its doors. It gets tokens of its
// own and none of the secrets: variables with placeholders stay, and what stands in them is dead.
CreateRequest Registry::request_like(const SandboxRecord& record, Millis timeout) const {
    CreateRequest request;
    request.template_ref = record.template_name;
    request.timeout = timeout;
    request.metadata = record.metadata;
    request.env = record.env;
    request.via = proxy_of(deps_.secrets, record);
    request.secure = record.secure;
    request.usual_reach = record.exposure.usual;
    request.host_mask = record.exposure.host_mask;
    request.tls_ports = record.exposure.tls_ports;
    request.on_timeout = record.on_timeout;
    request.pause_keeps = record.pause_keeps;
    request.auto_resume = record.auto_resume;
    return request;
}

Task<std::vector<Fork>> Registry::fork(std::string sandbox, ForkOrder order, Principal who) {
    const Live source = live(sandbox, who.tenant);
    if (order.count < 1 || order.count > kMostForks)
        throw Error{Errc::invalid_argument, "a sandbox is forked into 1 to 100"};
    co_await source->settle();
    if (source->record().state == SandboxState::paused) {
        throw Error{Errc::failed_precondition, Fault::client,
                    "sandbox " + sandbox + " is paused; resume it before it is forked"};
    }
    std::vector<Fork> forks(order.count);
    co_await shielded(fork_whole(source, order, std::move(who), forks));
    co_return forks;
}

Task<> Registry::fork_whole(Live source, ForkOrder order, Principal who, std::vector<Fork>& forks) {
    const SandboxRecord of = source->record();
    const Keep what = engines_.can(of.engine, "memory_fork") ? Keep::memory : Keep::disk;
    const SnapshotFacts facts = co_await source->copy(what);
    const CreateRequest request = request_like(of, order.timeout);
    Origin origin{.template_name = of.template_name,
                  .template_digest = facts.template_digest,
                  .engine = facts.engine,
                  .snapshot = facts.id,
                  .memory = facts.memory,
                  .parent = of.id,
                  .policy = of.policy,
                  .limits = facts.limits};
    origin.limits.open_files = of.limits.open_files;
    std::size_t next = 0;
    TaskGroup workers{deps_.executor};
    for (std::size_t i = 0; i < std::min(kAtOnce, forks.size()); ++i)
        workers.spawn(fork_some(request, origin, who, forks, next));
    co_await workers.wait_idle();
    co_await workers.close();

    boost::json::array children;
    for (const Fork& each : forks) {
        if (each.sandbox) children.emplace_back(each.sandbox->record().id);
    }
    Event event = sandbox_event(of, "sandbox.forked");
    event.fields["memory"] = facts.memory;
    event.fields["refused"] = forks.size() - children.size();
    event.fields["children"] = std::move(children);
    event.fields["stood_still_us"] = facts.stood_still.count();
    add_who(event, who);
    emit_or_log(deps_.events, std::move(event));
    co_await discard(facts.id);
}

Task<> Registry::fork_some(const CreateRequest& request, const Origin& origin, const Principal& who,
                           std::vector<Fork>& forks, std::size_t& next) {
    while (next < forks.size()) {
        Fork& fork = forks[next++];
        try {
            fork.sandbox = co_await create_of(request, origin, who);
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            fork.error = e;
        }
    }
}

Task<> Registry::reset(std::string sandbox, std::string reference, Principal who) {
    const Live target = live(sandbox, who.tenant);
    std::string snapshot;
    if (!reference.empty()) {
        const SnapshotRecord& record = known_snapshot(reference, who.tenant);
        if (record.engine != target->record().engine) {
            throw Error{Errc::failed_precondition, Fault::client,
                        "snapshot " + record.id + " was made by the isolation " + record.engine +
                            ", and sandbox " + sandbox + " has " + target->record().engine};
        }
        snapshot = record.id;
    }
    co_await shielded(target->reset(snapshot, who));
    keep_time(*target);
    if (!snapshot.empty()) co_await use_snapshot(snapshot, target->record());
}

}  // namespace oyat::core
