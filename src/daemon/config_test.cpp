#include "daemon/config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/id.hpp"
#include "base/units.hpp"
#include "daemon/operator_env.hpp"

namespace oyat::daemon {
namespace {

std::string mistake_in(std::string_view toml, const Options& options = {}) {
    try {
        (void)parse_config(toml, options);
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::oyat_operator) << error.what();
        return error.message();
    }
    return "";
}

TEST(Config, WithoutAFileTheDefaultsOfTheDocumentationHold) {
    const Config config = parse_config("", {});
    EXPECT_EQ(config.listen.to_string(), "127.0.0.1:3000");
    EXPECT_FALSE(config.tls);
    EXPECT_EQ(config.sandboxes.default_limits, core::Limits{.open_files = core::kDefaultLimits.open_files})
        << "the keeper chooses the rest: a small machine has less than the usual";
    EXPECT_EQ(config.sandboxes.max_sandboxes, 2000u);
    EXPECT_EQ(config.sandboxes.preview_most, core::Reach::anyone);
    EXPECT_EQ(config.retention.age, std::chrono::days{30});
    EXPECT_EQ(config.retention.bytes, 10ull << 30);
}

TEST(Config, ReadsWhatTheFileSays) {
    const Config config = parse_config(R"(
        listen = "127.0.0.1:4000"
        domain = "sandbox.example.com"
        [sandbox]
        longest_life = "12h"
        [sandbox.limits]
        cpus = 1.5
        memory = "512MiB"
        processes = 64
        [sandbox.environment]
        PIP_INDEX_URL = "https://pypi.example.com/simple"
        [tenant]
        sandboxes = 10
        preview_max = "token"
        requests_per_second = 50
        request_burst = 60
        starts_per_second = 70
        [signals]
        deny_burst = "freeze"
        abuse = "kill"
        spin_after = "90s"
        [egress]
        reachable_private = ["10.20.0.0/16"]
        [dns]
        upstream = ["192.0.2.53", "tls://192.0.2.54#dns.example"]
        [dns.hosts]
        "db.internal" = ["10.20.0.5", "10.20.0.6"]
        [record]
        keep = "60d"
        keep_bytes = "1GiB"
    )",
                                       {});
    EXPECT_EQ(config.listen.port(), 4000);
    EXPECT_EQ(config.domain, "sandbox.example.com");
    EXPECT_EQ(config.key_rate.per_second, 50u);
    EXPECT_EQ(config.key_rate.burst, 60u);
    EXPECT_EQ(config.sandboxes.starts_per_second, 70u);
    EXPECT_EQ(config.sandboxes.signals.action(core::SignalKind::deny_burst), core::SignalAction::freeze);
    EXPECT_EQ(config.sandboxes.signals.action(core::SignalKind::abuse), core::SignalAction::kill);
    EXPECT_EQ(config.sandboxes.signals.action(core::SignalKind::spin), core::SignalAction::note);
    EXPECT_EQ(config.sandboxes.signals.spin_after, std::chrono::seconds{90});
    EXPECT_EQ(config.sandboxes.max_life, std::chrono::hours{12});
    EXPECT_EQ(config.sandboxes.default_limits.cpu_millis, 1500u);
    EXPECT_EQ(config.sandboxes.default_limits.memory_bytes, 512ull << 20);
    EXPECT_EQ(config.sandboxes.default_limits.disk_bytes, 0u) << "what is not said is left to the keeper";
    EXPECT_EQ(config.sandboxes.operator_env.at("PIP_INDEX_URL"), "https://pypi.example.com/simple");
    EXPECT_EQ(config.sandboxes.max_sandboxes, 10u);
    EXPECT_EQ(config.sandboxes.preview_most, core::Reach::token);
    EXPECT_EQ(config.egress.reachable_private, std::vector<std::string>{"10.20.0.0/16"});
    EXPECT_EQ(config.egress.upstreams.resolvers.at(0).address.to_string(), "192.0.2.53:53");
    EXPECT_EQ(config.egress.upstreams.resolvers.at(1).name, "dns.example");
    EXPECT_EQ(config.egress.hosts.at("db.internal"), (std::vector<std::string>{"10.20.0.5", "10.20.0.6"}));
    EXPECT_EQ(config.retention.age, std::chrono::days{60});
}

TEST(Config, TheCommandLineWins) {
    Options options;
    options.listen = "127.0.0.1:0";
    options.max_sandboxes = "7";
    const Config config = parse_config("listen = \"127.0.0.1:4000\"\n[tenant]\nsandboxes = 10", options);
    EXPECT_EQ(config.listen.port(), 0);
    EXPECT_EQ(config.sandboxes.max_sandboxes, 7u);
}

TEST(Config, RefusesWhatItDoesNotKnowAndSaysWhere) {
    EXPECT_EQ(mistake_in("[sandbox.limits]\nmemmory = \"1GiB\""),
              "sandbox: limits: unknown setting 'memmory' in line 2");
    for (const char* toml :
         {"colour = 1", "listen = 3000", "listen = \"localhost\"", "listen = \"127.0.0.1:70000\"",
          "[sandbox.limits]\ncpus = -1", "[sandbox.limits]\nmemory = \"1GB\"",
          "[sandbox.limits]\nprocesses = -5", "[sandbox.environment]\nA = 1",
          "[dns]\nupstream = [\"name.example\"]", "[dns]\nupstream = [\"system\", \"192.0.2.53\"]",
          "[dns]\nauthorities = \"/dev/null\"", "[dns.hosts]\n\"db.internal\" = \"10.20.0.5\"",
          "[dns.hosts]\n\"db.internal\" = [\"fd00::5\"]",
          "[dns]\nupstream = [\"tls://192.0.2.53#dns.example\"]\nauthorities = \"/dev/null\"", "sandbox = 1",
          "listen = ", "log_level = \"loud\""}) {
        EXPECT_NE(mistake_in(toml), "") << toml;
    }
}

TEST(Config, PlainHttpBeyondThisMachineMustBeAllowedByName) {
    EXPECT_NE(mistake_in("listen = \"0.0.0.0:3000\"").find("--insecure"), std::string::npos);
    EXPECT_NE(mistake_in("listen = \"[::]:3000\""), "");
    EXPECT_EQ(mistake_in("listen = \"127.0.0.2:3000\""), "");
    EXPECT_EQ(mistake_in("listen = \"[::1]:3000\""), "");
    Options options;
    options.insecure = true;
    EXPECT_EQ(mistake_in("listen = \"0.0.0.0:3000\"", options), "");
}

std::string hidden_by(const Config& config, std::string_view text) {
    masking::Tally tally;
    return masking::Hidden{.values = nullptr, .forms = config.masking.forms}.in(text, tally);
}

TEST(Config, HidesKeysOfTheServerInAnyCaseAndOtherFormsWhenToldTo) {
    const std::string text = "e2b_0123456789abcdef0123456789abcdef01234567 a@b.example C-123456";
    EXPECT_EQ(hidden_by(parse_config("", {}), text), "[masked:api-key] a@b.example C-123456");
    const Config config = parse_config(R"(
        [masking]
        sets = ["mail", "card"]
        client_variables = true
        [masking.patterns]
        customer = 'C-[0-9]{6}'
    )",
                                       {});
    EXPECT_EQ(hidden_by(config, text), "[masked:api-key] [masked:mail] [masked:customer]");
    EXPECT_TRUE(config.masking.client_variables);
    EXPECT_FALSE(config.masking.client_forms);
}

TEST(Config, RefusesFormsThatItCouldNotLookForAndNamesThem) {
    EXPECT_NE(mistake_in("[masking]\nsets = [\"male\"]").find("mail, phone, iban, card"), std::string::npos);
    EXPECT_NE(mistake_in("[masking]\nclient_forms = 1").find("true or false"), std::string::npos);
    for (const char* pattern : {"(", "a*", "(a)\\1"}) {
        const std::string toml = std::string{"[masking.patterns]\ncustomer = '"} + pattern + "'";
        EXPECT_NE(mistake_in(toml).find("customer"), std::string::npos) << pattern;
    }
}

TEST(Config, TlsWantsACertificateAndItsKey) {
    Options options;
    options.state = "/nowhere";
    EXPECT_NE(mistake_in("[tls]\nlisten = \"0.0.0.0:8443\"", options).find("certificate"), std::string::npos);
}

TEST(Config, ADomainByTlsListensOnItsPortWithTheCertificateOfTheState) {
    const std::filesystem::path state = std::filesystem::temp_directory_path() / ("config-" + random_hex(8));
    std::filesystem::create_directories(state / "tls");
    std::ofstream{state / "tls/certificate.pem"} << "CERTIFICATE";
    std::ofstream{state / "tls/key.pem"} << "KEY";
    Options options;
    options.state = state;
    options.tls_domain = "oyat.localhost:8443";
    const Config config = parse_config("", options);
    EXPECT_EQ(config.domain, "oyat.localhost:8443");
    ASSERT_TRUE(config.tls);
    EXPECT_EQ(config.tls->address.to_string(), "127.0.0.1:8443");
    EXPECT_EQ(config.tls->certificate_pem, "CERTIFICATE");
    EXPECT_EQ(config.tls->key_pem, "KEY");

    options.tls_listen = "0.0.0.0:9443";
    options.tls_domain = "sandbox.example.com";
    EXPECT_EQ(parse_config("", options).tls->address.to_string(), "0.0.0.0:9443");
    std::filesystem::remove_all(state);
}

TEST(Config, ADomainIsANameInLowerCaseWithAPortPerhaps) {
    for (const char* wrong :
         {"Sandbox.example.com", "a b", "a:0", "a:65536", "a:", "https://a", "*.a", "a/"}) {
        EXPECT_NE(mistake_in("domain = \"" + std::string{wrong} + "\""), "") << wrong;
    }
    EXPECT_EQ(mistake_in("domain = \"a.example:8443\""), "");
}

// The file that is installed must be one that oyatd takes, with and without its defaults spelt out.
TEST(Config, TheShippedFileHoldsExactlyTheDefaults) {
    std::ifstream file{std::filesystem::path{__FILE__}.parent_path() / "../../packaging/oyat.toml"};
    ASSERT_TRUE(file);
    std::string as_shipped;
    std::string spelt_out;
    for (std::string line; std::getline(file, line);) {
        as_shipped += line + "\n";
        const bool setting = line.starts_with("# ") && line.find(" = ") != std::string::npos;
        const bool example = line.find("example") != std::string::npos ||
                             line.find("tls") != std::string::npos || line.find("8443") != std::string::npos;
        spelt_out += (setting && !example ? line.substr(2) : line) + "\n";
    }
    for (const std::string* each : {&as_shipped, &spelt_out}) {
        const std::string& text = *each;
        const Config config = parse_config(text, {});
        const Config plain = parse_config("", {});
        EXPECT_EQ(config.listen, plain.listen);
        EXPECT_EQ(config.sandboxes.default_limits,
                  &text == &spelt_out ? core::kDefaultLimits : plain.sandboxes.default_limits);
        EXPECT_EQ(config.sandboxes.max_life, plain.sandboxes.max_life);
        EXPECT_EQ(config.sandboxes.max_sandboxes, plain.sandboxes.max_sandboxes);
        EXPECT_EQ(config.retention.age, plain.retention.age);
        EXPECT_EQ(config.retention.bytes, plain.retention.bytes);
    }
    EXPECT_NE(as_shipped, spelt_out);
}

TEST(Units, AreReadWholeOrNotAtAll) {
    EXPECT_EQ(parse_bytes("2GiB").value(), 2ull << 30);
    EXPECT_EQ(parse_bytes("0").value(), 0u);
    EXPECT_EQ(parse_duration("5m").value(), std::chrono::minutes{5});
    for (const char* text : {"", "GiB", "1GB", "-1", "1.5GiB", "9999999999999TiB", "1 GiB"}) {
        EXPECT_FALSE(parse_bytes(text)) << text;
    }
    for (const char* text : {"", "5", "m", "5 m", "99999999999999999d"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(OperatorEnvironment, PointsProgramsToTheBundleWhenTheHostTrustsMore) {
    const auto directory = std::filesystem::temp_directory_path() / ("oyat-ca-" + random_hex(8));
    EXPECT_TRUE(certificate_environment(directory).empty()) << "no such directory";
    std::filesystem::create_directories(directory / "company");
    EXPECT_TRUE(certificate_environment(directory).empty());
    std::ofstream{directory / "company" / "root.crt"} << "x";
    EXPECT_EQ(certificate_environment(directory).at("PIP_CERT"), "/etc/ssl/certs/ca-certificates.crt");
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace oyat::daemon
