#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/egress_control.hpp"
#include "egress/budgets.hpp"
#include "egress/explicit_proxy.hpp"
#include "egress/interception.hpp"
#include "egress/judge.hpp"
#include "egress/name_server.hpp"
#include "egress/pins.hpp"
#include "egress/relay.hpp"
#include "egress/report.hpp"
#include "egress/shared.hpp"
#include "egress/token_bucket.hpp"
#include "io/acceptor.hpp"
#include "io/task_group.hpp"

namespace oyat::egress {

// The one way out of one sandbox. Its tasks share the ownership, so that one that ends late finds it still
// there.
class Outlet : public std::enable_shared_from_this<Outlet> {
public:
    Outlet(std::shared_ptr<Shared> shared, std::string sandbox, std::string tenant,
           core::EgressSockets sockets, core::PolicyPtr policy);
    ~Outlet();
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;

    void open();                                     // once, when it is held by a shared_ptr
    std::size_t update(core::PolicyPtr policy);      // cuts the connections that the new policy refuses
    std::size_t revoked(const std::string& secret);  // cuts the connections that have carried it
    [[nodiscard]] const std::string& tenant() const noexcept { return tenant_; }
    // The names that this sandbox's addresses stand for: taken over from the outlet before, or from the last
    // oyatd.
    [[nodiscard]] boost::json::array pins() { return pins_.to_json(shared_->clock.mono()); }
    void take_over_pins(const boost::json::array& pins) { pins_.restore(pins, shared_->clock.mono()); }
    [[nodiscard]] bool has_unsaved_pins() const { return pins_.have_changed(); }
    Task<> save_pins();
    [[nodiscard]] core::Traffic traffic() const noexcept { return traffic_; }
    // A paused sandbox's pins do not age.
    void pause() { pins_.pause(shared_->clock.mono()); }
    void resume() { pins_.resume(shared_->clock.mono()); }
    // Resets every connection and stops listening, at once. The report of each is written before this
    // returns.
    void cut();
    Task<> close();  // cut(), then waits for the tasks

private:
    struct Connection;

    static Task<> hold(std::shared_ptr<Outlet> self, Task<> task);
    void spawn(Task<> task);
    Task<> accept_all();
    Task<> keep_pins();
    void admit(Fd socket);
    // For programs that name their destination to a proxy inside.
    Task<> serve_proxy(Fd socket, std::unique_ptr<Connection> connection);
    Task<std::optional<Destination>> destination_of(ExplicitProxy& proxy);
    // `first` was read already.
    Task<> carry(AsyncFd inside, std::unique_ptr<Connection> connection, std::string first);
    Task<> go_on(AsyncFd inside, Connection& connection);
    Task<> pass(AsyncFd inside, Connection& connection);
    Task<> read(AsyncFd inside, Connection& connection);
    [[nodiscard]] TlsReading tls_reading();
    Task<Fd> connect_again(const Connection& connection);
    Task<bool> server_begins(AsyncFd& inside, AsyncFd& outside, Connection& connection);
    [[nodiscard]] std::optional<Destination> destination_of(int socket) const;
    // A connection that no rule was asked about.
    void report_denied(const std::optional<Destination>& to, std::string_view rule);
    void report_refused(const Connection& connection);
    void report_used_up(const Connection& connection);
    void report_failure(Connection& connection, const Error& error) noexcept;
    void report_end(Connection& connection, std::string why,
                    std::optional<Fault> fault = std::nullopt) noexcept;

    std::shared_ptr<Shared> shared_;
    std::string sandbox_;
    std::string tenant_;
    core::PolicyPtr policy_;
    Report report_;
    Pins pins_;
    Acceptor listener_;
    TokenBucket rate_;
    Pace pace_;
    Budgets budgets_;
    core::Traffic traffic_;
    std::unique_ptr<http::RequestTransform> transform_;  // null: requests leave as they were sent
    std::set<Connection*> connections_;                  // each is owned by the task that carries it
    bool cut_ = false;
    TaskGroup tasks_;
    NameServer names_;
    Judge judge_;
};

}  // namespace oyat::egress
