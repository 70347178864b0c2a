#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/native/services.hpp"
#include "core/principal.hpp"
#include "http/exchange.hpp"
#include "http/router.hpp"
#include "http/url.hpp"

namespace oyat::native {

// One authenticated request on its way through a handler.
struct Call {
    Services& services;
    http::Exchange& exchange;
    const http::PathValues& values;
    http::Query query;
    core::Principal who;

    // The sandbox that the path names. Throws not_found for what can be no id.
    [[nodiscard]] std::string sandbox_id() const;
    [[nodiscard]] std::shared_ptr<core::Sandbox> sandbox() const;
    [[nodiscard]] std::string text(std::string_view name, std::string missing = {}) const;  // of the query
    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t missing,
                                       std::uint64_t most) const;
    [[nodiscard]] bool flag(std::string_view name) const;  // "?name", "?name=true"
    // Whether the key belongs to who runs the server: what is everybody's is theirs to change and to see.
    [[nodiscard]] bool of_operator() const { return who.tenant == services.settings.operator_tenant; }
    // "key", "client" and "protocol", as events name who asked.
    void sign(boost::json::object& fields) const;

    Task<> answer(int status, boost::json::value value);
    Task<> answer_empty();  // 204
    // Gives the connection away after a 101 to this protocol. Throws invalid_argument when the client did not
    // ask for it.
    Task<std::unique_ptr<Stream>> upgrade(std::string protocol);
};

using Handler = Task<> (*)(Call&);

// What a key must be allowed to do. Nothing: the route is open to all.
struct Route {
    std::string_view method;
    std::string_view pattern;
    std::optional<core::Scope> scope;
    Handler handler;
};

// The table of each subject.
[[nodiscard]] std::span<const Route> server_routes();
[[nodiscard]] std::span<const Route> sandbox_routes();
[[nodiscard]] std::span<const Route> snapshot_routes();
[[nodiscard]] std::span<const Route> policy_routes();
[[nodiscard]] std::span<const Route> process_routes();
[[nodiscard]] std::span<const Route> port_routes();
[[nodiscard]] std::span<const Route> file_routes();
[[nodiscard]] std::span<const Route> event_routes();
[[nodiscard]] std::span<const Route> key_routes();
[[nodiscard]] std::span<const Route> secret_routes();
[[nodiscard]] std::span<const Route> template_routes();
[[nodiscard]] std::span<const Route> brake_routes();

}  // namespace oyat::native
