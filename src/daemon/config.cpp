#include "daemon/config.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/throwing.hpp"
#include "base/units.hpp"
#include "core/engines.hpp"
#include "daemon/mirrors.hpp"
#include "daemon/operator_env.hpp"
#include "daemon/text_file.hpp"
#include "daemon/toml_section.hpp"
#include "egress/destinations.hpp"
#include "egress/host_entries.hpp"
#include "masking/shipped.hpp"
#include "pki/names.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::daemon {
namespace {

constexpr const char* kUsualFile = "/etc/oyat/oyat.toml";
constexpr std::size_t kMaxResolvers = 4;

[[noreturn]] void mistake(const std::string& what) {
    throw Error{Errc::invalid_argument, Fault::oyat_operator, what};
}

// "127.0.0.1:3000", "[::]:3000".
Result<SocketAddress> parse_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    const auto no = [text] {
        return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not ADDRESS:PORT");
    };
    if (colon == std::string_view::npos) return no();
    const char* end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data() + colon + 1, end, port);
    if (failed != std::errc{} || rest != end) return no();
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return SocketAddress::ip(host, port);
}

bool is_loopback(const SocketAddress& address) {
    return address.host() == "::1" || address.host().starts_with("127.");
}

// "sandbox.example.com" or "oyat.localhost:8443". Links and certificates are made of it.
struct Domain {
    std::string text;
    std::uint16_t port = 443;
};

Result<Domain> parse_domain(std::string_view text) {
    const std::size_t colon = text.find(':');
    Domain domain{.text = std::string{text}};
    const auto no = [text] {
        return refuse(Errc::invalid_argument,
                      "'" + std::string{text} + "' is not NAME or NAME:PORT, in lower case");
    };
    if (colon != std::string_view::npos) {
        const char* end = text.data() + text.size();
        const auto [rest, failed] = std::from_chars(text.data() + colon + 1, end, domain.port);
        if (failed != std::errc{} || rest != end || domain.port == 0) return no();
    }
    if (!pki::is_host_name(text.substr(0, colon))) return no();
    return domain;
}

Result<log::Level> parse_level(std::string_view text) {
    if (text == "debug") return log::Level::debug;
    if (text == "info") return log::Level::info;
    if (text == "warn") return log::Level::warn;
    if (text == "error") return log::Level::error;
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not debug, info, warn or error");
}

Result<std::uint32_t> parse_count(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc{} && end == text.data() + text.size()) return number;
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not a whole number");
}

// What the file says about listening; the certificate is read once it is known which one.
struct Listening {
    std::string plain = "127.0.0.1:3000";
    std::string tls;
    std::string certificate_file;
    std::string key_file;
    std::string domain;
};

void read_limits(TomlSection& section, core::Limits& limits) {
    section.parsed("memory", limits.memory_bytes, parse_bytes);
    section.parsed("disk", limits.disk_bytes, parse_bytes);
    section.parsed("disk_io_per_second", limits.io_bytes_per_second, parse_bytes);
    section.value<double>("cpus", [&](double cpus) {
        if (!(cpus >= 0.01 && cpus <= 4096)) mistake("between 0.01 and 4096 is expected");
        limits.cpu_millis = static_cast<std::uint32_t>(std::lround(cpus * 1000));
    });
    section.value<std::uint32_t>("processes", [&](std::uint32_t count) { limits.processes = count; });
    section.value<std::uint64_t>("inodes", [&](std::uint64_t count) { limits.disk_inodes = count; });
    section.value<std::uint64_t>("open_files", [&](std::uint64_t count) { limits.open_files = count; });
}

Result<std::string> parse_isolation(std::string_view text) {
    for (const char* word : {"jail", "gvisor", "microvm", "auto"}) {
        if (text == word) return std::string{text};
    }
    return refuse(Errc::invalid_argument, "jail, gvisor, microvm or auto is expected");
}

Result<std::string> parse_boundary(std::string_view text) {
    if (core::strength(text) > 0) return std::string{text};
    return refuse(Errc::invalid_argument, "shared-kernel, userspace-kernel or own-kernel is expected");
}

void read_snapshots(TomlSection& section, core::SnapshotRules& rules) {
    section.value<std::uint32_t>("most", [&](std::uint32_t count) { rules.most = count; });
    section.parsed("bytes", rules.most_bytes, parse_bytes);
    section.parsed("kept", rules.kept, parse_duration);
}

void read_tenants(TomlSection& section, Config& all) {
    core::SandboxesConfig& config = all.sandboxes;
    section.value<std::uint32_t>("sandboxes", [&](std::uint32_t count) { config.max_sandboxes = count; });
    section.value<std::uint32_t>("creates_per_second",
                                 [&](std::uint32_t count) { config.creates_per_second = count; });
    section.value<std::uint32_t>("create_burst", [&](std::uint32_t count) { config.create_burst = count; });
    section.value<std::uint32_t>("starts_per_second",
                                 [&](std::uint32_t count) { config.starts_per_second = count; });
    section.value<std::uint32_t>("start_burst", [&](std::uint32_t count) { config.start_burst = count; });
    section.parsed("preview_max", config.preview_most, core::parse_reach);
    section.value<std::uint32_t>("requests_per_second",
                                 [&](std::uint32_t count) { all.key_rate.per_second = count; });
    section.value<std::uint32_t>("request_burst", [&](std::uint32_t count) { all.key_rate.burst = count; });
}

void read_signals(TomlSection& section, core::SignalRules& rules) {
    for (std::size_t kind = 0; kind < core::kSignalNames.size(); ++kind)
        section.parsed(core::kSignalNames.at(kind), rules.actions.at(kind), core::parse_signal_action);
    section.value<std::uint32_t>("denials_a_minute", [&](std::uint32_t count) { rules.denials = count; });
    section.parsed("upload_bytes", rules.upload_bytes, parse_bytes);
    section.parsed("spin_after", rules.spin_after, parse_duration);
}

std::string read_certificates(const std::string& path) {
    std::string pem = read_text_file(path);
    if (!pem.contains("-----BEGIN CERTIFICATE-----")) mistake(path + " holds no certificate");
    return pem;
}

// What the operator adds to the words of policies.
struct AddedWords {
    std::vector<std::string> registries;  // URLs
    std::vector<std::string> git_hosts;
};

void read_egress(TomlSection& section, egress::EgressConfig& config, AddedWords& added) {
    section.texts("registries", added.registries);
    section.texts("git_hosts", added.git_hosts);
    for (const char* field : {"preset", "default", "rule", "bypass", "write_methods"}) section.leave(field);
    std::vector<std::string> files;
    section.texts("ca_files", files);
    for (const std::string& file : files) config.authorities_pem += read_certificates(file) + "\n";
    section.texts("reachable_private", config.reachable_private);
    section.texts("open_always_deny", config.open_always_deny);
    section.parsed("bytes_per_second", config.limits.bytes_per_second, parse_bytes);
    section.parsed("up_bytes_a_day", config.limits.up_bytes_a_day, parse_bytes);
    section.parsed("down_bytes_a_day", config.limits.down_bytes_a_day, parse_bytes);
}

// The upmost layer, out of the same section.
core::OperatorPolicy read_policy(std::string_view text, const Config& config, const AddedWords& added) {
    policy::OperatorWords words{.mirrors = mirrors_in(config.sandboxes.operator_env), .git_hosts = {}};
    std::ranges::copy(mirrors_of_machine(), std::back_inserter(words.mirrors));
    for (const std::string& url : added.registries) {
        const auto mirror = policy::Mirror::of_url(url);
        if (!mirror) mistake("egress: registries: '" + url + "' is not the URL of a registry");
        words.mirrors.push_back(*mirror);
    }
    for (const std::string& host : added.git_hosts) {
        in("egress: git_hosts",
           [&] { words.git_hosts.push_back(or_throw(policy::HostPattern::parse(host))); });
    }
    core::OperatorPolicy policy{
        .document = nullptr, .words = std::make_shared<const policy::Vocabulary>(words), .ground = {}};
    policy.ground = or_throw(egress::OperatorOpenings::parse(config.egress.reachable_private,
                                                             config.egress.open_always_deny))
                        .ground();
    policy.document =
        in("egress", [&] { return or_throw(policy::document_from_section(text, "egress", *policy.words)); });
    return policy;
}

void read_dns(TomlSection& section, egress::EgressConfig& config) {
    section.lists("hosts", config.hosts);
    in("hosts", [&] { (void)or_throw(egress::HostEntries::parse(config.hosts)); });
    egress::UpstreamOptions& upstreams = config.upstreams;
    std::vector<std::string> resolvers;
    section.texts("upstream", resolvers);
    if (resolvers.size() > kMaxResolvers) mistake("at most 4 resolvers are expected in upstream");
    if (resolvers == std::vector<std::string>{"system"}) resolvers.clear();
    in("upstream", [&] {
        for (const std::string& resolver : resolvers) {
            upstreams.resolvers.push_back(or_throw(egress::Resolver::parse(resolver)));
        }
    });
    std::string authorities;
    section.text("authorities", authorities);
    if (authorities.empty()) return;
    if (std::ranges::none_of(upstreams.resolvers, &egress::Resolver::is_tls)) {
        mistake("authorities are of use only with a tls:// resolver in upstream");
    }
    upstreams.authorities_pem = read_certificates(authorities);
}

void read_masking(TomlSection& section, core::MaskingConfig& config) {
    std::vector<masking::Expression> forms{masking::api_keys()};
    std::vector<std::string> sets;
    section.texts("sets", sets);
    for (const std::string& name : sets) {
        std::optional<masking::Expression> form = masking::shipped(name);
        if (!form) {
            mistake("'" + name + "' is none of the sets " + std::string{masking::kShippedNames});
        }
        forms.push_back(*std::move(form));
    }
    std::map<std::string, std::string> patterns;
    section.pairs("patterns", patterns);
    for (auto& [name, pattern] : patterns) forms.push_back({.name = name, .pattern = std::move(pattern)});
    config.forms = or_throw(masking::Expressions::compile(forms));
    section.value<bool>("client_variables", [&](bool yes) { config.client_variables = yes; });
    section.value<bool>("client_forms", [&](bool yes) { config.client_forms = yes; });
}

// What the operator does not set is the keeper's to choose: it knows what the machine has, and gives less
// than the usual where the machine has less. Open files are a matter of the agent, so their number is said
// here.
core::Limits left_to_the_keeper() {
    return {.open_files = core::kDefaultLimits.open_files};
}

void read_file(TomlSection& root, Config& config, Listening& listening, AddedWords& added) {
    root.text("listen", listening.plain);
    root.text("domain", listening.domain);
    root.parsed("log_level", config.log_level, parse_level);
    root.section("tls", [&](TomlSection& tls) {
        tls.text("listen", listening.tls);
        tls.text("certificate", listening.certificate_file);
        tls.text("key", listening.key_file);
    });
    root.section("sandbox", [&](TomlSection& sandbox) {
        sandbox.parsed("longest_life", config.sandboxes.max_life, parse_duration);
        sandbox.parsed("isolation", config.sandboxes.default_engine, parse_isolation);
        sandbox.parsed("minimum_boundary", config.sandboxes.minimum_boundary, parse_boundary);
        sandbox.value<bool>("allow_emulated", [&](bool allow) { config.sandboxes.allow_emulated = allow; });
        sandbox.section("limits",
                        [&](TomlSection& limits) { read_limits(limits, config.sandboxes.default_limits); });
        sandbox.pairs("environment", config.sandboxes.operator_env);
    });
    root.section("tenant", [&](TomlSection& tenant) { read_tenants(tenant, config); });
    root.section("snapshots",
                 [&](TomlSection& snapshots) { read_snapshots(snapshots, config.sandboxes.snapshots); });
    root.section("signals", [&](TomlSection& signals) { read_signals(signals, config.sandboxes.signals); });
    root.section("egress", [&](TomlSection& egress) { read_egress(egress, config.egress, added); });
    root.section("dns", [&](TomlSection& dns) { read_dns(dns, config.egress); });
    root.section("masking", [&](TomlSection& masking) { read_masking(masking, config.masking); });
    root.section("record", [&](TomlSection& record) {
        Millis age = config.retention.age;
        record.parsed("keep", age, parse_duration);
        config.retention.age = std::chrono::duration_cast<std::chrono::hours>(age);
        record.parsed("keep_bytes", config.retention.bytes, parse_bytes);
    });
}

void apply(const Options& options, Config& config, Listening& listening) {
    if (options.listen) listening.plain = *options.listen;
    if (options.tls_listen) listening.tls = *options.tls_listen;
    if (options.tls_certificate) listening.certificate_file = *options.tls_certificate;
    if (options.tls_key) listening.key_file = *options.tls_key;
    if (options.domain) listening.domain = *options.domain;
    if (options.tls_domain) listening.domain = *options.tls_domain;
    if (options.log_level) config.log_level = or_throw(parse_level(*options.log_level));
    if (options.max_sandboxes) config.sandboxes.max_sandboxes = or_throw(parse_count(*options.max_sandboxes));
}

// Where `oyat tls init` leaves what it makes.
void find_made_certificate(Listening& listening, const Options& options) {
    if (!listening.certificate_file.empty() || !listening.key_file.empty()) return;
    const std::string made = options.state + "/tls/";
    if (::access((made + "certificate.pem").c_str(), F_OK) != 0) return;
    listening.certificate_file = made + "certificate.pem";
    listening.key_file = made + "key.pem";
}

void settle_listening(Listening listening, const Options& options, Config& config) {
    config.listen = or_throw(parse_listen(listening.plain));
    if (!is_loopback(config.listen) && !options.insecure) {
        mistake("plain HTTP on " + listening.plain +
                " would show keys and data to the network: use TLS (--tls-listen, --tls-cert, --tls-key), or "
                "allow it with --insecure");
    }
    if (!listening.domain.empty()) {
        const Domain domain = or_throw(parse_domain(listening.domain));
        config.domain = domain.text;
        if (options.tls_domain && listening.tls.empty()) {
            listening.tls = or_throw(SocketAddress::ip(config.listen.host(), domain.port)).to_string();
        }
    }
    if (listening.tls.empty()) return;
    find_made_certificate(listening, options);
    if (listening.certificate_file.empty() || listening.key_file.empty()) {
        mistake(
            "TLS wants a certificate and its key (--tls-cert and --tls-key, or `certificate` and `key` in "
            "[tls]; `oyat tls init` makes them)");
    }
    config.tls = TlsListener{.address = or_throw(parse_listen(listening.tls)),
                             .certificate_pem = read_text_file(listening.certificate_file),
                             .key_pem = read_text_file(listening.key_file)};
}

}  // namespace

Config parse_config(std::string_view text, const Options& options) {
    Config config;
    Listening listening;
    config.sandboxes.operator_env = certificate_environment();
    config.sandboxes.default_limits = left_to_the_keeper();
    config.masking.forms = or_throw(masking::Expressions::compile({masking::api_keys()}));
    try {
        const toml::table parsed = toml::parse(text);
        TomlSection root{parsed};
        AddedWords added;
        read_file(root, config, listening, added);
        root.refuse_unknown();
        config.policy = read_policy(text, config, added);
        apply(options, config, listening);
        settle_listening(listening, options, config);
    } catch (const toml::parse_error& error) {
        mistake("line " + std::to_string(error.source().begin.line) + ": " +
                std::string{error.description()});
    } catch (Error& error) {
        throw std::move(error).because(Fault::oyat_operator);
    }
    return config;
}

Config read_config(const Options& options) {
    const bool usual = options.config.empty();
    const std::string file = usual ? kUsualFile : options.config;
    if (usual && ::access(file.c_str(), F_OK) != 0) return parse_config("", options);
    const std::string text = read_text_file(file);
    return in(file, [&] { return parse_config(text, options); });
}

}  // namespace oyat::daemon
