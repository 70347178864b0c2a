#include "daemon/options.hpp"

#include <charconv>

namespace oyat::daemon {
namespace {

Result<void> set(Options& options, std::string_view name, std::string_view value) {
    const std::string text{value};
    if (text.empty()) return refuse(Errc::invalid_argument, std::string{name} + " wants a value");
    if (name == "--config") {
        options.config = text;
    } else if (name == "--state") {
        options.state = text;
    } else if (name == "--keeper") {
        options.keeper_socket = text;
    } else if (name == "--user") {
        options.user = text;
    } else if (name == "--listen") {
        options.listen = text;
    } else if (name == "--tls-listen") {
        options.tls_listen = text;
    } else if (name == "--tls-cert") {
        options.tls_certificate = text;
    } else if (name == "--tls-key") {
        options.tls_key = text;
    } else if (name == "--domain") {
        options.domain = text;
    } else if (name == "--tls-domain") {
        options.tls_domain = text;
    } else if (name == "--max-sandboxes") {
        options.max_sandboxes = text;
    } else if (name == "--log-level") {
        options.log_level = text;
    } else if (name == "--api-key-file") {
        options.api_key_file = text;
    } else if (name == "--ready-file") {
        options.ready_file = text;
    } else if (name == "--ready-fd") {
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), options.ready_fd);
        if (failed != std::errc{} || end != text.data() + text.size() || options.ready_fd < 0) {
            return refuse(Errc::invalid_argument, "--ready-fd wants the number of an open descriptor");
        }
    } else {
        return refuse(Errc::invalid_argument, "unknown option " + std::string{name});
    }
    return {};
}

bool set_flag(Options& options, std::string_view name) {
    if (name == "--insecure") return options.insecure = true;
    if (name == "--help" || name == "-h") return options.help = true;
    if (name == "--version") return options.version = true;
    return false;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string_view>& arguments) {
    Options options;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const std::string_view argument = arguments[at];
        if (set_flag(options, argument)) continue;
        const std::size_t equals = argument.find('=');
        const bool joined = equals != std::string_view::npos;
        if (!joined && at + 1 == arguments.size()) {
            return refuse(Errc::invalid_argument, std::string{argument} + " wants a value, or is unknown");
        }
        const std::string_view value = joined ? argument.substr(equals + 1) : arguments[++at];
        if (auto done = set(options, argument.substr(0, equals), value); !done) {
            return std::unexpected{std::move(done).error()};
        }
    }
    return options;
}

std::string_view usage() {
    return R"(Usage: oyatd [OPTION...]

Serves sandboxes: speaks with clients, decides, records. It has no privileges; oyat-keeper makes what needs them.

  --config FILE          configuration (default: /etc/oyat/oyat.toml when it is there)
  --state DIR            where this server keeps its own (default: /var/lib/oyat); DIR/oyatd is made
  --keeper SOCKET        the socket of oyat-keeper (default: /run/oyat/keeper.sock)
  --user NAME            who to become when started as root (name or number)
  --listen ADDR:PORT     plain HTTP (default: 127.0.0.1:3000; port 0 takes a free one)
  --insecure             allow plain HTTP beyond this machine: keys and data can then be read on the way
  --tls-domain NAME[:PORT] public name, by HTTPS: port 8080 of a sandbox is then https://8080-ID.NAME:PORT, and
                         the API https://api.NAME:PORT (default port: 443)
  --tls-listen ADDR:PORT where HTTPS listens (default: the address of --listen, and the port of --tls-domain)
  --tls-cert FILE          the certificate and its chain, PEM (default: DIR/tls, where `oyat tls init` leaves it)
  --tls-key FILE           the certificate's key, PEM
  --domain NAME[:PORT]   public name only, where somebody else in front of this server ends TLS
  --api-key-file FILE    makes sure that the key in this file works, with all scopes
  --max-sandboxes N      running sandboxes of one tenant (default: 2000)
  --log-level LEVEL      debug, info, warn or error (default: info)
  --ready-fd N           write the URL and a newline to descriptor N when clients can connect
  --ready-file FILE      write the same to FILE (0600, made by renaming)
  --version              print the version
  --help                 this text

SIGTERM and SIGINT end it in order; sandboxes go on, and the next oyatd on the same state finds them.
SIGHUP reads the log level from the configuration again; everything else there wants a restart, which costs no sandbox.
)";
}

}  // namespace oyat::daemon
