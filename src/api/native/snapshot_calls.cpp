#include <boost/json/array.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/error_answer.hpp"
#include "api/native/sandbox_json.hpp"
#include "base/throwing.hpp"

// Copies of sandboxes: snapshots, forks, and the way back.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kMaxTimeout = 30ull * 24 * 3600 * 1000;
constexpr std::uint64_t kMaxKept = 100ull * 365 * 24 * 3600 * 1000;
constexpr std::uint64_t kMostForks = 100;

Task<> make(Call& call) {
    const std::string sandbox = call.sandbox_id();
    Body body = co_await Body::read(call.exchange);
    std::string name = body.text("name").value_or("");
    body.done();
    co_await call.answer(201, snapshot_json(co_await call.services.snapshots.make_snapshot(
                                  sandbox, std::move(name), call.who)));
}

Task<> list(Call& call) {
    boost::json::array all;
    for (const core::SnapshotRecord& record : call.services.snapshots.snapshots(
             {.tenant = call.who.tenant, .sandbox = call.text("sandbox"), .name = call.text("name")})) {
        all.push_back(snapshot_json(record));
    }
    co_await call.answer(200, boost::json::object{{"snapshots", std::move(all)}});
}

Task<> get(Call& call) {
    co_await call.answer(
        200, snapshot_json(call.services.snapshots.snapshot(call.values.at("snapshot"), call.who.tenant)));
}

Task<> remove(Call& call) {
    co_await call.services.snapshots.remove_snapshot(call.values.at("snapshot"), call.who);
    co_await call.answer_empty();
}

Task<> retain(Call& call) {
    Body body = co_await Body::read(call.exchange);
    const auto kept = body.number("kept_ms", kMaxKept);
    body.done();
    if (!kept) throw Error{Errc::invalid_argument, "kept_ms is missing; 0 keeps it for ever"};
    co_await call.answer(200, snapshot_json(co_await call.services.snapshots.retain_snapshot(
                                  call.values.at("snapshot"), Millis{*kept}, call.who)));
}

boost::json::object fork_json(const core::Fork& fork) {
    if (fork.sandbox) return {{"sandbox", sandbox_json(fork.sandbox->record())}};
    return {{"error",
             {{"code", to_string(fork.error->code())},
              {"message", fork.error->message()},
              {"fault", to_string(fork.error->fault())},
              {"event", fork.error->event()}}}};
}

Task<> fork(Call& call) {
    const std::string sandbox = call.sandbox_id();
    Body body = co_await Body::read(call.exchange);
    core::ForkOrder order{.timeout = call.sandbox()->record().timeout};
    if (const auto count = body.number("count", kMostForks)) order.count = static_cast<std::uint32_t>(*count);
    if (const auto timeout = body.number("timeout_ms", kMaxTimeout)) order.timeout = Millis{*timeout};
    body.done();
    boost::json::array forks;
    for (const core::Fork& each : co_await call.services.snapshots.fork(sandbox, order, call.who))
        forks.push_back(fork_json(each));
    co_await call.answer(201, boost::json::object{{"forks", std::move(forks)}});
}

Task<> reset(Call& call) {
    const std::string sandbox = call.sandbox_id();
    Body body = co_await Body::read(call.exchange);
    std::string snapshot = body.text("snapshot").value_or("");
    body.done();
    co_await call.services.snapshots.reset(sandbox, std::move(snapshot), call.who);
    co_await call.answer(200, sandbox_json(call.sandbox()->record()));
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/sandboxes/{id}/snapshots", Scope::run, make},
    {"POST", "/v1/sandboxes/{id}/fork", Scope::run, fork},
    {"POST", "/v1/sandboxes/{id}/reset", Scope::run, reset},
    {"GET", "/v1/snapshots", Scope::read, list},
    {"GET", "/v1/snapshots/{snapshot*}", Scope::read, get},
    {"DELETE", "/v1/snapshots/{snapshot*}", Scope::run, remove},
    {"POST", "/v1/snapshots/{snapshot}/retain", Scope::run, retain},
};

}  // namespace

std::span<const Route> snapshot_routes() {
    return kRoutes;
}

}  // namespace oyat::native
