// oyatd: everything that parses what comes from outside, and nothing that needs a privilege. This file is its
// table of contents: what it is made of, in the order in which the parts depend on each other.

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "api/e2b/front.hpp"
#include "api/native/front.hpp"
#include "audit/recorder.hpp"
#include "auth/keys.hpp"
#include "base/log.hpp"
#include "base/log_filter.hpp"
#include "base/throwing.hpp"
#include "core/make_sandboxes.hpp"
#include "core/masks.hpp"
#include "daemon/figures.hpp"
#include "daemon/front_door.hpp"
#include "daemon/machine_guard.hpp"
#include "daemon/ready.hpp"
#include "daemon/recovery.hpp"
#include "daemon/start.hpp"
#include "egress/egress.hpp"
#include "http/server.hpp"
#include "io/loop.hpp"
#include "io/signals.hpp"
#include "keeperlink/agent_connector.hpp"
#include "keeperlink/connect_keeper.hpp"
#include "metrics/metrics.hpp"
#include "secrets/outgoing.hpp"
#include "secrets/secrets.hpp"
#include "store/sqlite_store.hpp"

namespace oyat::daemon {
namespace {

constexpr const char* kVersion = OYAT_VERSION;
constexpr const char* kTenant = "default";
constexpr Millis kGrace{2000};  // for running answers, when we are told to end

std::string listen(http::Server& server, const Config& config) {
    const std::uint16_t port = server.listen(config.listen.host(), config.listen.port());
    const SocketAddress plain = or_throw(SocketAddress::ip(config.listen.host(), port));
    if (!config.tls) return "http://" + plain.to_string();
    const TlsListener& tls = *config.tls;
    server.listen_tls(tls.address.host(), tls.address.port(), tls.certificate_pem, tls.key_pem);
    return "http://" + plain.to_string();
}

// By which services that trust our tokens find us.
std::string issuer(const Config& config) {
    return config.domain.empty() ? "https://" + config.listen.to_string() : "https://api." + config.domain;
}

Task<> until_told_to_end(Signals& signals, const Options& options, core::SandboxService& sandboxes) {
    while (co_await signals.next() == SIGHUP) {
        if (std::optional<Config> config = reload(options))
            co_await sandboxes.set_operator_policy(std::move(config->policy));
    }
}

Task<> serve(Executor executor, Start start) {
    const Config& config = start.config;
    const SystemClock clock;
    store::SqliteStore store{start.state.database.native()};

    // The other side of the wall.
    const auto keeper = keeperlink::connect_keeper(executor, start.options.keeper_socket);
    const auto agents = keeperlink::make_agent_connector(executor);
    const core::KeeperFacts facts = co_await wait_for_keeper(*keeper);

    // The record comes before everything that can happen.
    audit::Recorder recorder{
        executor, clock, *keeper, {.directory = start.state.audit, .retention = config.retention}};
    co_await recorder.open();
    co_await reopen_logs(recorder, store);
    recorder.keep_house();
    core::Masks masks{config.masking};
    const log::Filter hiding{
        [&masks](std::string_view sandbox, std::string_view text) { return masks.in_log(sandbox, text); }};
    core::EventBus events{clock, recorder, &masks};
    metrics::Metrics metrics{clock, kVersion};
    events.listen([&metrics](const core::Event& event) { metrics.count(event); });

    auth::Keys keys{clock, store, config.key_rate};
    co_await keys.load();
    if (!start.api_key.empty()) {
        co_await keys.ensure(start.api_key, "operator", kTenant,
                             static_cast<std::uint8_t>(core::Scope::admin));
    }

    // What sandboxes may use without having it.
    const secrets::Seal seal{std::move(start.secrets_key)};
    secrets::Vault vault{clock, store, events, seal};
    co_await vault.load();
    secrets::Identities identities{clock, store, seal, issuer(config)};
    co_await identities.load();
    secrets::Secrets secrets{{.executor = executor,
                              .clock = clock,
                              .store = store,
                              .events = events,
                              .vault = vault,
                              .identities = identities,
                              .seal = seal}};
    co_await secrets.load();
    masks.consult(secrets);

    // What sandboxes are.
    core::Templates templates{*keeper};
    co_await templates.refresh();
    egress::EgressConfig egress_config = config.egress;
    egress_config.transform = [&secrets](const std::string& sandbox) {
        return std::make_unique<secrets::Outgoing>(secrets, sandbox);
    };
    egress_config.authority_directory = start.state.own / "authorities";
    const auto egress = egress::make_egress(executor, events, clock, store, std::move(egress_config));
    vault.on_revoked(
        [&egress](const secrets::Secret& secret) { (void)egress->revoked(secret.tenant, secret.name); });
    core::Policies policies{store, config.policy};
    co_await policies.load();
    MachineGuard guard{clock, start.state.own};
    core::SandboxesConfig sandboxes_config = config.sandboxes;
    sandboxes_config.machine_full = [&guard] { return guard(); };
    sandboxes_config.metadata_space = e2b::kMetadataSpace;
    const auto sandboxes = core::make_sandboxes({.executor = executor,
                                                 .clock = clock,
                                                 .keeper = *keeper,
                                                 .connector = *agents,
                                                 .egress = *egress,
                                                 .store = store,
                                                 .events = events,
                                                 .masks = masks,
                                                 .templates = templates,
                                                 .policies = policies,
                                                 .config = std::move(sandboxes_config),
                                                 .secrets = &secrets});
    emit_server_event(events, "server.started",
                      {{"version", kVersion}, {"state_id", facts.state_id}, {"kernel", facts.kernel}});
    co_await egress->load();
    co_await sandboxes->recover();
    co_await egress->forget_the_rest();

    // The doors: one front for each protocol.
    FrontDoor door{[&metrics](std::string_view front) { metrics.count_request(front); }};
    http::Server server{executor, [&door](http::Exchange& exchange) { return door.handle(exchange); }};
    const metrics::Gauges gauges{.sandboxes_by_state = [&] { return count_by_state(*sandboxes, keys); },
                                 .http_connections = [&server] { return server.connections(); }};
    e2b::E2bFront e2b{{.sandboxes = *sandboxes,
                       .snapshots = *sandboxes,
                       .templates = templates,
                       .events = events,
                       .keys = keys,
                       .clock = clock,
                       .settings = {.domain = config.domain, .longest_run = config.sandboxes.max_life},
                       .vault = &vault}};
    native::NativeFront native{{.sandboxes = *sandboxes,
                                .snapshots = *sandboxes,
                                .brakes = *sandboxes,
                                .keeper = *keeper,
                                .templates = templates,
                                .policies = policies,
                                .events = events,
                                .keys = keys,
                                .clock = clock,
                                .settings = {.version = kVersion,
                                             .domain = config.domain,
                                             .spool = start.state.spool,
                                             .operator_tenant = kTenant,
                                             .more_limits = egress::limit_facts(config.egress.limits),
                                             .metrics = [&] { return metrics.render(gauges); },
                                             .all_routes = [&] { return door.routes(); }},
                                .vault = &vault,
                                .secrets = &secrets,
                                .identities = &identities}};
    door.add("e2b", e2b);  // first: a request for a port of a sandbox may have any path
    door.add("native", native);

    Signals signals{executor, {SIGTERM, SIGINT, SIGHUP}};
    const std::string url = listen(server, config);
    announce_ready(start.options.ready_fd, start.options.ready_file, url);
    log::info("ready", {{"url", url}, {"version", kVersion}});
    co_await until_told_to_end(signals, start.options, *sandboxes);

    // Sandboxes go on: only our ends of them are let go.
    log::info("ending");
    emit_server_event(events, "server.stopping", {});
    events.close();
    co_await server.close(kGrace);
    co_await e2b.close();
    co_await egress->close();
    co_await sandboxes->close();
    co_await secrets.close();
    co_await recorder.close();
}

int run(const std::vector<std::string_view>& arguments) {
    Result<Options> options = parse_options(arguments);
    if (!options) {
        std::fprintf(stderr, "oyatd: %s (see --help)\n", options.error().what());
        return 2;
    }
    if (options->help || options->version) {
        std::fputs(options->help ? std::string{usage()}.c_str() : (std::string{kVersion} + "\n").c_str(),
                   stdout);
        return 0;
    }
    std::signal(SIGPIPE, SIG_IGN);
    try {
        Start start = prepare_start(*std::move(options));
        Loop loop;
        loop.run(serve(loop.executor(), std::move(start)));
        return 0;
    } catch (const std::exception& error) {
        log::error("oyatd cannot go on", {{"why", error.what()}});
        return 1;
    }
}

}  // namespace
}  // namespace oyat::daemon

int main(int argc, char** argv) {
    return oyat::daemon::run({argv + 1, argv + argc});
}
