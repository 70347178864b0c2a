#include "api/e2b/create_request.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "api/e2b/header_rules.hpp"
#include "api/e2b/network_options.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;
using std::chrono::seconds;

// The label by which a client chooses the wall around its sandbox.
constexpr const char* kIsolation = "oyat.isolation";

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

[[noreturn]] void later(std::string_view option) {
    invalid("'" + std::string{option} + "' is not available in this release");
}

bool is_filled(const json::object& body, std::string_view name) {
    const json::value* value = body.if_contains(name);
    if (value == nullptr || value->is_null()) return false;
    if (value->is_array()) return !value->get_array().empty();
    if (value->is_object()) return !value->get_object().empty();
    return true;
}

void check_variables(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
        if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
            invalid("'envVars' has a name that is empty or holds '=' or NUL");
        }
        if (value.find('\0') != std::string::npos)
            invalid("'envVars': the value of '" + name + "' holds a NUL");
    }
}

void read_lifecycle(const rpc::Message& body, core::CreateRequest& request) {
    const bool pause = body.boolean("autoPause");
    const std::optional<rpc::Message> resume = body.message("autoResume");
    request.on_timeout = pause ? core::OnTimeout::pause : core::OnTimeout::kill;
    request.auto_resume = resume && resume->boolean("enabled");
    if (body.boolean("autoPauseMemory", true)) return;
    if (!pause) invalid("'autoPauseMemory' needs 'autoPause'");
    if (request.auto_resume) invalid("'autoPauseMemory': false can't be resumed automatically");
    request.pause_keeps = core::Keep::disk;
}

// `allow_internet_access: false` denies everything; the allow list still opens.
void read_network(const rpc::Message& body, core::CreateRequest& request) {
    const Internet internet =
        body.boolean("allow_internet_access", true) ? Internet::allowed : Internet::denied;
    const json::object none;
    const NetworkOptions options = or_throw(
        read_network_options(body.message("network").value_or(rpc::Message{none}), request.secure, internet));
    request.policy = network_policy(options);
    request.via = options.via;
    if (!options.public_traffic) request.usual_reach = core::Reach::token;
    request.host_mask = options.host_mask;
    request.tls_ports = options.https_ports;
    if (const std::optional<rpc::Message> network = body.message("network"))
        request.secrets.bindings = read_header_rules(*network);
}

core::CreateRequest read(const json::object& object, CreateForm form, const Settings& settings) {
    const rpc::Message body{object};
    core::CreateRequest request;
    request.template_ref = body.string("templateID");
    if (request.template_ref.empty()) invalid("'templateID' is missing");
    if (request.template_ref.find('\0') != std::string::npos) invalid("'templateID' holds a NUL");

    const seconds missing{form == CreateForm::v1 ? 15 : 300};
    request.timeout = or_throw(read_timeout(object, "timeout", missing, settings));
    if (request.timeout == Millis{0}) invalid("'timeout' must be more than 0");

    request.metadata = body.string_map("metadata");
    if (const auto isolation = request.metadata.find(kIsolation); isolation != request.metadata.end())
        request.isolation = isolation->second;
    request.env = body.string_map("envVars");
    check_variables(request.env);
    // Who leaves `secure` out is served with a token too: every client that ever read it sends it.
    request.secure = form == CreateForm::v2 || body.boolean("secure", true);
    read_lifecycle(body, request);
    request.secrets.identities = read_identity_tokens(body);
    read_network(body, request);
    if (is_filled(object, "volumeMounts")) later("volumeMounts");
    // `mcp` only chooses the template, and the client has done so already; it starts the gateway by a
    // command.
    return request;
}

}  // namespace

Result<core::CreateRequest> read_create_request(const json::object& body, CreateForm form,
                                                const Settings& settings) {
    try {
        return read(body, form, settings);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

Result<Millis> read_timeout(const json::object& body, std::string_view name, seconds missing,
                            const Settings& settings) {
    const json::value* value = body.if_contains(name);
    if (value == nullptr || value->is_null()) return missing;
    const std::string field = "'" + std::string{name} + "'";
    if (!value->is_int64())
        return refuse(Errc::invalid_argument, field + " is not a whole number of seconds");
    const std::int64_t given = value->get_int64();
    const std::int64_t longest = std::chrono::duration_cast<seconds>(settings.longest_run).count();
    if (given < 0) return refuse(Errc::invalid_argument, field + " is negative");
    if (given > longest) {
        return refuse(Errc::invalid_argument, field + " is longer than the " + std::to_string(longest) +
                                                  " seconds that a run may last here");
    }
    return seconds{given};
}

}  // namespace oyat::e2b
