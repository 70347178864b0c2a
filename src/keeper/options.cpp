#include "keeper/options.hpp"

#include <grp.h>
#include <pwd.h>

#include <charconv>

namespace oyat::keeper {
namespace {

template <class T>
Result<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not a number that fits");
}

Result<gid_t> group(std::string_view name) {
    if (const struct group* found = ::getgrnam(std::string{name}.c_str())) return found->gr_gid;
    if (Result<gid_t> id = number<gid_t>(name)) return id;
    return refuse(Errc::not_found, "no group is called '" + std::string{name} + "'");
}

Result<uid_t> user(std::string_view name) {
    if (const struct passwd* found = ::getpwnam(std::string{name}.c_str())) return found->pw_uid;
    if (Result<uid_t> id = number<uid_t>(name)) return id;
    return refuse(Errc::not_found, "no user is called '" + std::string{name} + "'");
}

template <class T>
Result<void> store(T& where, Result<T> value) {
    if (!value) return std::unexpected{std::move(value).error()};
    where = *std::move(value);
    return {};
}

Result<void> set(Options& options, std::string_view name, std::string_view value) {
    const std::string text{value};
    if (name == "--state") return store<std::string>(options.state, text);
    if (name == "--run") return store<std::string>(options.run, text);
    if (name == "--templates") return store<std::string>(options.templates, text);
    if (name == "--agent") return store<std::string>(options.agent, text);
    if (name == "--kernel") return store<std::string>(options.kernel, text);
    if (name == "--runsc") return store<std::string>(options.runsc, text);
    if (name == "--limits") return store<std::string>(options.limits_file, text);
    if (name == "--cgroup") return store<std::string>(options.cgroup, text);
    if (name == "--name") return store<std::string>(options.template_name, text);
    if (name == "--socket-group") return store(options.socket_group, group(value));
    if (name == "--oyatd-user") return store(options.oyatd_user, user(value));
    if (name == "--pool") return store(options.pool.emplace(), number<std::size_t>(value));
    if (name == "--pool-most") return store(options.pool_most.emplace(), number<std::size_t>(value));
    if (name == "--ready-fd") return store(options.ready_fd, number<int>(value));
    return refuse(Errc::invalid_argument, "unknown option " + std::string{name});
}

Result<void> check(const Options& options) {
    const auto missing = [](const char* name) {
        return refuse(Errc::invalid_argument, std::string{name} + " is missing");
    };
    if (options.templates.empty()) return missing("--templates");
    if (options.command == Options::Command::import_template) return {};
    if (options.state.empty()) return missing("--state");
    if (options.run.empty()) return missing("--run");
    if (options.agent.empty()) return missing("--agent");
    return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string_view>& arguments) {
    Options options;
    std::size_t at = 0;
    if (!arguments.empty() && arguments[0] == "import-template") {
        options.command = Options::Command::import_template;
        ++at;
    }
    for (; at < arguments.size(); ++at) {
        const std::string_view argument = arguments[at];
        if (argument == "--help" || argument == "-h") {
            options.help = true;
            return options;
        }
        if (argument == "--ephemeral") {
            options.ephemeral = true;
            continue;
        }
        const std::size_t equals = argument.find('=');
        const bool joined = equals != std::string_view::npos;
        if (!joined && at + 1 == arguments.size()) {
            return refuse(Errc::invalid_argument, std::string{argument} + " wants a value, or is unknown");
        }
        const std::string_view value = joined ? argument.substr(equals + 1) : arguments[++at];
        if (Result<void> done = set(options, argument.substr(0, equals), value); !done) {
            return std::unexpected{std::move(done).error()};
        }
    }
    if (Result<void> complete = check(options); !complete)
        return std::unexpected{std::move(complete).error()};
    return options;
}

std::string_view usage() {
    return R"(Usage: oyat-keeper --state DIR --run DIR --templates DIR --agent FILE [OPTION...]
       oyat-keeper import-template --templates DIR [--name NAME] < ARCHIVE

Makes and holds what sandboxes consist of: layers, control groups, network namespaces, jails. It runs as root and is
spoken to by oyatd alone, through RUN/keeper.sock.

  --state DIR          where this server keeps its own; DIR/keeper is made, for root only
  --run DIR            sockets and mount points of this server, on a file system that a restart of the machine empties
  --templates DIR      the templates of this machine, shared by all servers on it
  --agent FILE         the static program that becomes process 1 of each sandbox
  --kernel DIR         what microvm sandboxes boot: DIR/vmlinuz and DIR/modules (default /usr/lib/oyat/kernel, where
                       scripts/make-kernel puts Debian's)
  --runsc FILE         the gVisor of gvisor sandboxes (default /usr/lib/oyat/runsc, where scripts/make-runsc puts one)
  --socket-group NAME  group of RUN/keeper.sock (name or number; default: root)
  --oyatd-user NAME    who may connect besides root (name or number)
  --pool N             warm sandboxes kept per template (default 4, and more of a template that is asked for faster
                       than that: see the next)
  --pool-most N        how far such a pool may grow (default: N of --pool when that is given, else one for each 256 MiB
                       of the machine's memory, at most 128)
  --limits FILE        lines of `name = number`: default_ and max_ of memory_bytes, cpu_millis, processes, disk_bytes,
                       disk_inodes, io_bytes_per_second; max_boxes, creates_per_second, open_files
  --cgroup PATH        the v2 control group that was delegated to us (default: below the root)
  --ready-fd N         write a line to descriptor N when the socket is open
  --ephemeral          destroy all sandboxes at the end; without it living ones stay for the next keeper
  --help               this text

import-template reads a tar (plain, gzip, xz or zstd) from standard input and prints the template's digest.
SIGTERM and SIGINT end the keeper in order.
)";
}

}  // namespace oyat::keeper
