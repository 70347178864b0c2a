#include "api/native/call.hpp"

#include <charconv>

#include "base/id.hpp"
#include "core/event_json.hpp"

namespace oyat::native {

std::string Call::sandbox_id() const {
    std::string id = values.at("id");
    if (!is_sandbox_id(id)) throw Error{Errc::not_found, "no sandbox has such an id"};
    return id;
}

std::shared_ptr<core::Sandbox> Call::sandbox() const {
    return services.sandboxes.find(sandbox_id(), who.tenant);
}

std::string Call::text(std::string_view name, std::string missing) const {
    return query.get(name).value_or(std::move(missing));
}

std::uint64_t Call::number(std::string_view name, std::uint64_t missing, std::uint64_t most) const {
    const std::optional<std::string> given = query.get(name);
    if (!given) return missing;
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(given->data(), given->data() + given->size(), value);
    if (problem != std::errc{} || end != given->data() + given->size() || value > most) {
        throw Error{Errc::invalid_argument,
                    std::string{name} + " is not a number from 0 to " + std::to_string(most)};
    }
    return value;
}

bool Call::flag(std::string_view name) const {
    const std::optional<std::string> given = query.get(name);
    if (!given || *given == "false" || *given == "0") return false;
    if (given->empty() || *given == "true" || *given == "1") return true;
    throw Error{Errc::invalid_argument, std::string{name} + " is neither true nor false"};
}

void Call::sign(boost::json::object& fields) const {
    fields["key"] = who.key_id;
    fields["client"] = who.client;
    fields["protocol"] = who.protocol;
}

Task<> Call::answer(int status, boost::json::value value) {
    std::string body;
    core::append_json(body, value);
    body += '\n';
    co_await exchange.respond(status, {{"Content-Type", "application/json"}}, std::move(body));
}

Task<> Call::answer_empty() {
    co_await exchange.respond(204, {}, {});
}

Task<std::unique_ptr<Stream>> Call::upgrade(std::string protocol) {
    const http::RequestHead& head = exchange.request();
    if (!head.wants_upgrade || !head.fields.has_token("Upgrade", protocol)) {
        throw Error{Errc::invalid_argument,
                    "this call needs 'Connection: Upgrade' and 'Upgrade: " + protocol + "'"};
    }
    co_return co_await exchange.take_over(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + protocol + "\r\n\r\n");
}

}  // namespace oyat::native
