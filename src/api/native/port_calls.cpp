#include <boost/json/object.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/tunnel.hpp"
#include "base/throwing.hpp"
#include "core/record_fields.hpp"

// Ports of a sandbox: who may reach them, links to them, and a way in for who has a key.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kLongestLink = 30ull * 24 * 3600 * 1000;
constexpr std::uint64_t kUsualLink = 3600ull * 1000;

std::uint16_t port_of(const Call& call) {
    const std::string& text = call.values.at("port");
    const bool is_number =
        !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == text.npos;
    const unsigned long number = is_number ? std::stoul(text) : 0;
    if (number == 0 || number > 65'535)
        throw Error{Errc::invalid_argument, "a port is a number from 1 to 65535"};
    return static_cast<std::uint16_t>(number);
}

// Raw bytes to and from a port inside, also one that is bound to 127.0.0.1 only.
Task<> tunnel_to(Call& call) {
    const std::uint16_t port = port_of(call);
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    Fd socket = co_await sandbox->dial(port);
    const std::unique_ptr<Stream> inside = make_stream(call.exchange.executor(), std::move(socket));
    const std::unique_ptr<Stream> client = co_await call.upgrade("oyat-port");
    co_await tunnel(*client, *inside, *sandbox);
}

Task<> list(Call& call) {
    boost::json::object shown = core::to_json(call.sandbox()->record().exposure.in_force());
    co_await call.answer(200, std::move(shown));
}

Task<> expose(Call& call) {
    const std::uint16_t port = port_of(call);
    Body body = co_await Body::read(call.exchange);
    const std::optional<std::string> who = body.text("who");
    body.done();
    if (!who) throw Error{Errc::invalid_argument, "who is missing: closed, token, link or public"};
    co_await call.services.sandboxes.expose(call.sandbox_id(), port, or_throw(core::parse_reach(*who)),
                                            call.who);
    co_await list(call);
}

Task<> link(Call& call) {
    const std::uint16_t port = port_of(call);
    Body body = co_await Body::read(call.exchange);
    const Millis life{body.number("ttl_ms", kLongestLink).value_or(kUsualLink)};
    body.done();
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const core::SandboxRecord& record = sandbox->record();
    if (record.exposure.of(port) < core::Reach::link) {
        throw Error{Errc::failed_precondition, Fault::client,
                    "port " + std::to_string(port) + " takes no links: it is " +
                        std::string{to_string(record.exposure.of(port))}};
    }
    const WallTime until = call.services.clock.wall() + life;
    core::Event event = core::sandbox_event(record, "ingress.link");
    event.fields = {{"port", port}, {"until", to_rfc3339(until)}};
    core::add_who(event, call.who);
    call.services.events.emit(std::move(event));

    const std::string query = "?oyat_link=" + core::sign_link(record.exposure, record.id, port, until);
    const std::string number = std::to_string(port);
    const std::string& domain = call.services.settings.domain;
    boost::json::object answer{{"path", "/s/" + record.id + "/" + number + "/" + query},
                               {"url", nullptr},
                               {"until", to_rfc3339(until)}};
    if (!domain.empty()) answer["url"] = "https://" + number + "-" + record.id + "." + domain + "/" + query;
    co_await call.answer(201, std::move(answer));
}

// The token of a sandbox opens its ports: to see it takes the right to use the sandbox.
constexpr Route kRoutes[] = {
    {"GET", "/v1/sandboxes/{id}/ports", Scope::run, list},
    {"PUT", "/v1/sandboxes/{id}/ports/{port}", Scope::run, expose},
    {"POST", "/v1/sandboxes/{id}/ports/{port}", Scope::run, tunnel_to},
    {"POST", "/v1/sandboxes/{id}/ports/{port}/link", Scope::run, link},
};

}  // namespace

std::span<const Route> port_routes() {
    return kRoutes;
}

}  // namespace oyat::native
