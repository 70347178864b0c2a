#include <boost/json/array.hpp>

#include "api/native/call.hpp"
#include "api/native/sandbox_json.hpp"

// What the server says of itself.
namespace oyat::native {
namespace {

using core::Scope;

boost::json::array texts(const std::vector<std::string>& all) {
    return boost::json::array(all.begin(), all.end());
}

boost::json::object held_json(const core::HeldFacts& held) {
    return {{"sandboxes", held.sandboxes},
            {"mounts", held.mounts},
            {"cgroups", held.cgroups},
            {"netns", held.netns},
            {"processes", held.processes}};
}

Task<> health(Call& call) {
    co_await call.exchange.respond(200, {{"Content-Type", "text/plain"}}, "ok\n");
}

Task<> metrics(Call& call) {
    co_await call.exchange.respond(200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                                   call.services.settings.metrics());
}

Task<> info(Call& call) {
    core::KeeperFacts facts = co_await call.services.keeper.info();
    const std::vector<core::LimitFacts>& more = call.services.settings.more_limits;
    facts.limits.insert(facts.limits.end(), more.begin(), more.end());
    boost::json::array engines;
    for (const core::EngineFacts& engine : facts.engines) {
        engines.push_back({{"name", engine.name},
                           {"available", engine.available},
                           {"boundary", engine.boundary},
                           {"capabilities", texts(engine.capabilities)},
                           {"reason", engine.reason},
                           {"version", engine.version},
                           {"kernel", engine.kernel},
                           {"accelerator", engine.accelerator},
                           {"emulated", engine.emulated}});
    }
    boost::json::array limits;
    for (const core::LimitFacts& limit : facts.limits) {
        limits.push_back({{"name", limit.name},
                          {"mechanism", limit.mechanism},
                          {"hard", limit.hard},
                          {"default", limit.default_value},
                          {"maximum", limit.maximum}});
    }
    boost::json::object shown{{"version", call.services.settings.version},
                              {"state_id", facts.state_id},
                              {"kernel", facts.kernel},
                              {"cgroup", facts.cgroup_mode},
                              {"engines", std::move(engines)},
                              {"limits", std::move(limits)},
                              {"probes", texts(facts.probes)},
                              {"held", held_json(facts.held)},
                              {"pooled", held_json(facts.pooled)},
                              {"stopped", call.services.brakes.stopped()},
                              {"egress_off", call.services.brakes.egress_off()},
                              {"tenant", call.who.tenant}};
    co_await call.answer(200, std::move(shown));
}

Task<> routes(Call& call) {
    co_await call.answer(200, boost::json::object{{"routes", texts(call.services.settings.all_routes())}});
}

// The latest sample of each running sandbox.
Task<> usage(Call& call) {
    boost::json::array all;
    for (const auto& sandbox : call.services.sandboxes.list({.tenant = call.who.tenant})) {
        const core::SandboxRecord& record = sandbox->record();
        const auto samples = call.services.sandboxes.samples(record.id, call.who.tenant);
        boost::json::object shown{{"id", record.id},
                                  {"state", core::to_string(record.state)},
                                  {"template", record.template_name},
                                  {"cpu_millis", record.limits.cpu_millis}};
        if (samples.empty()) {
            shown["usage"] = nullptr;
        } else {
            shown["time"] = to_rfc3339(samples.back().time);
            shown["cpu_percent"] = samples.back().cpu_percent;
            shown["usage"] = usage_json(samples.back().usage);
        }
        all.push_back(std::move(shown));
    }
    co_await call.answer(200, boost::json::object{{"sandboxes", std::move(all)}});
}

constexpr Route kRoutes[] = {
    {"GET", "/health", std::nullopt, health}, {"GET", "/metrics", Scope::read, metrics},
    {"GET", "/v1/info", Scope::read, info},   {"GET", "/v1/routes", Scope::read, routes},
    {"GET", "/v1/usage", Scope::read, usage},
};

}  // namespace

std::span<const Route> server_routes() {
    return kRoutes;
}

}  // namespace oyat::native
