#include <boost/json/array.hpp>

#include "api/e2b/endpoint.hpp"
#include "core/templates.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMiB = 1024 * 1024;

// "Template". Templates are content by digest here: one build each, made when it was imported.
json::object view(const core::TemplateFacts& facts) {
    const std::string created = to_rfc3339(facts.created);
    return {{"templateID", facts.name},
            {"buildID", facts.digest},
            {"cpuCount", core::kDefaultLimits.cpu_millis / 1000},
            {"memoryMB", core::kDefaultLimits.memory_bytes / kMiB},
            {"diskSizeMB", core::kDefaultLimits.disk_bytes / kMiB},
            {"public", true},
            {"aliases", json::array{facts.name}},
            {"names", json::array{facts.name}},
            {"createdAt", created},
            {"updatedAt", created},
            {"createdBy", nullptr},
            {"lastSpawnedAt", nullptr},
            {"spawnCount", 0},
            {"buildCount", 1},
            {"envdVersion", kAgentLevel},
            {"buildStatus", "ready"}};
}

Task<Reply> list(ControlCall& call) {
    co_await call.services.templates.refresh();
    json::array list;
    for (const core::TemplateFacts& facts : call.services.templates.known()) list.push_back(view(facts));
    co_return Reply::json(200, list);
}

Task<Reply> info(ControlCall& call) {
    const core::TemplateFacts facts = co_await call.services.templates.resolve(call.values.at("id"));
    const std::string created = to_rfc3339(facts.created);
    json::object answer = view(facts);
    answer["builds"] = json::array{{{"buildID", facts.digest},
                                    {"status", "ready"},
                                    {"createdAt", created},
                                    {"updatedAt", created},
                                    {"finishedAt", created},
                                    {"cpuCount", answer["cpuCount"]},
                                    {"memoryMB", answer["memoryMB"]},
                                    {"diskSizeMB", answer["diskSizeMB"]},
                                    {"envdVersion", kAgentLevel}}};
    co_return Reply::json(200, answer);
}

Task<Reply> alias(ControlCall& call) {
    const core::TemplateFacts facts = co_await call.services.templates.resolve(call.values.at("alias"));
    co_return Reply::json(200, json::object{{"templateID", facts.name}, {"public", true}});
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/templates", Need::look, list},
    {"GET", "/v2/templates", Need::look, list},
    {"GET", "/templates/aliases/{alias}", Need::look, alias},
    {"GET", "/templates/{id}", Need::look, info},
};

}  // namespace

std::span<const Endpoint> template_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
