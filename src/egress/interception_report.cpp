#include "core/json_text.hpp"
#include "egress/read_request.hpp"
#include "packages/file_names.hpp"

// What connections that are read leave on the record, and what programs are told about what was refused.
namespace oyat::egress {
namespace {

using http::Exchange;
using http::RequestHead;

constexpr std::size_t kRecordedRefs = 8, kShownRefs = 200;

}  // namespace

boost::json::array refs_for_record(const std::vector<std::string>& refs,
                                   const http::RequestTransform* transform) {
    boost::json::array shown;
    for (const std::string& ref : refs) {
        if (shown.size() == kRecordedRefs) break;
        const bool may = transform == nullptr || transform->may_record(ref);
        shown.emplace_back(may ? core::json_text(std::string_view{ref}.substr(0, kShownRefs)) : "(withheld)");
    }
    return shown;
}

void Interception::report_artefact(const RequestHead& head, std::string_view host) noexcept {
    const std::optional<packages::Package> package = packages::requested_artefact(head.path);
    if (!package) return;
    around_.report.repeated("package.fetched", {{"ecosystem", to_string(package->ecosystem)},
                                                {"name", package->name},
                                                {"version", package->version},
                                                {"host", host},
                                                {"addr", attempt_.address.to_string()},
                                                {"port", attempt_.port}});
}

void Interception::report_malformed(std::string_view why) noexcept {
    around_.report.repeated("connect.denied",
                            {{"addr", attempt_.address.to_string()},
                             {"port", attempt_.port},
                             {"host", identity()},
                             {"rule", "malformed-request"},
                             {"why", why}},
                            Fault::policy);
}

Task<> Interception::deny(Exchange& exchange, const UnderWay& request, const Verdict& verdict) {
    const RequestHead& head = exchange.request();
    const std::string layer{policy::to_string(verdict.decision.layer)};
    const std::string rule{verdict.decision.rule};
    boost::json::object denied = fields(head, request.host);
    denied["rule"] = rule;
    denied["layer"] = layer;
    denied["strength"] = policy::to_string(policy::Strength::authority);
    std::string refs;
    if (request.push && request.push->refs) {
        denied["refs"] = refs_for_record(*request.push->refs, around_.transform);
        for (const std::string& ref : *request.push->refs) {
            if (refs.size() < kShownRefs) refs.append(" ").append(ref);
        }
        refs = "push to" + refs + " ";
    } else if (!request.push_problem.empty()) {
        denied["why"] = request.push_problem;
        refs = request.push_problem + "; ";
    }
    around_.report.repeated("connect.denied", std::move(denied), Fault::policy);
    co_await refuse(exchange, 403, refs + "denied by rule " + rule + " (" + layer + "), see denied report");
}

Task<> Interception::refuse(Exchange& exchange, int status, std::string why) {
    const RequestHead& head = exchange.request();
    std::string line =
        "oyat: " + head.method + " " + url_for_people(head, around_.tls.has_value()) + " " + why + "\n";
    co_await exchange.respond(
        status, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
        std::move(line));
}

boost::json::object Interception::fields(const RequestHead& head, std::string_view host) const {
    boost::json::object fields{{"addr", attempt_.address.to_string()},
                               {"port", attempt_.port},
                               {"method", head.method},
                               {"path", path_for_record(head.path)}};
    if (!host.empty()) fields["host"] = host;
    if (around_.transform == nullptr) return fields;
    for (const auto& [name, text] :
         {std::pair{"method", std::string_view{head.method}}, {"path", head.path}, {"host", host}}) {
        if (!around_.transform->may_record(text)) fields[name] = "(withheld)";
    }
    return fields;
}

}  // namespace oyat::egress
