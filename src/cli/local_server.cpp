#include "cli/local_server.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <csignal>
#include <fstream>
#include <sstream>

#include "base/fd.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cli/child_process.hpp"
#include "cli/failure.hpp"
#include "cli/json_read.hpp"
#include "io/timer.hpp"

namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnit = "oyat.service";
constexpr const char* kInstalledTools = "/usr/lib/oyat";
constexpr const char* kUsualState = "/var/lib/oyat";
constexpr const char* kUsualListen = "127.0.0.1:3000";
constexpr Millis kStartLimit{60'000}, kStopLimit{60'000}, kPoll{100};

std::string first_line_of(const fs::path& path) {
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

void write_private(const fs::path& path, const std::string& text, mode_t mode) {
    const Fd file{sys(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode),
                      "write " + path.string())};
    sys(::fchmod(file.get(), mode), "write " + path.string());
    sys(::write(file.get(), text.data(), text.size()), "write " + path.string());
}

}  // namespace

LocalServer::LocalServer(Server options)
    : bin_{fs::read_symlink("/proc/self/exe").parent_path()}, options_{std::move(options)} {
    options_.state = fs::absolute(options_.state).lexically_normal().string();
}

bool LocalServer::has_unit() const {
    return options_.state == kUsualState && fs::exists("/run/systemd/system") &&
           (fs::exists(fs::path{"/lib/systemd/system"} / kUnit) ||
            fs::exists(fs::path{"/etc/systemd/system"} / kUnit));
}

void LocalServer::need_root() const {
    if (::geteuid() == 0) return;
    throw Failure{Error{Errc::denied, Fault::client, "starting and stopping the server needs root"},
                  "sudo oyat up"};
}

Task<> LocalServer::start(Context& context) {
    need_root();
    if (has_unit()) {
        if (options_.listen) {
            throw Failure{Error{Errc::invalid_argument, Fault::client,
                                "the installed server listens where its configuration says"},
                          "set listen in /etc/oyat/oyat.toml, then systemctl restart oyat"};
        }
        if (run_program({"systemctl", "start", kUnit}) != 0) {
            throw Failure{Error{Errc::unavailable, Fault::engine, "systemctl could not start oyat"},
                          "journalctl -u oyat"};
        }
    } else {
        start_from_tree();
    }
    const MonoTime deadline = SystemClock{}.mono() + kStartLimit;
    for (;;) {
        std::optional<Error> last;
        try {
            Settings settings = context.client.settings();
            if (const std::string known = key(); !known.empty()) settings.key = known;
            Client client{settings};
            co_await client.get("/v1/info");
            context.client = Client{std::move(settings)};
            co_return;
        } catch (const Error& error) {
            if (error.code() == Errc::canceled) throw;
            last = error;
        }
        const bool ended = child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == child_;
        if (ended || SystemClock{}.mono() > deadline) {
            const std::string why = last_words();
            throw Failure{Error{Errc::unavailable, Fault::engine,
                                "the server did not start: " + (why.empty() ? last->message() : why)},
                          has_unit() ? "journalctl -u oyat -u oyat-keeper"
                                     : "its logs are in " + options_.state + "/log"};
        }
        co_await sleep_for(kPoll);
    }
}

void LocalServer::start_from_tree() {
    const fs::path serve = tool("serve");
    if (serve_pid()) {
        throw Failure{Error{Errc::failed_precondition, Fault::client,
                            "a server runs on " + options_.state + " already, at another address"},
                      "stop it first: oyat down --state " + options_.state};
    }
    fs::create_directories(fs::path{options_.state} / "log");
    share_key();
    for (const char* name : {"oyatd.log", "keeper.log", "serve.log"}) {
        std::error_code absent;
        const fs::path log = fs::path{options_.state} / "log" / name;
        const std::uintmax_t size = fs::file_size(log, absent);
        logs_before_[log] = absent ? 0 : size;
    }
    const fs::path ready = fs::path{options_.state} / "ready.json";
    fs::remove(ready);
    child_ = start_detached({serve.string(), "--state", options_.state, "--listen",
                             options_.listen.value_or(kUsualListen), "--ready-file", ready.string()},
                            tree_environment(), options_.state + "/log/serve.log");
    write_private(fs::path{options_.state} / "serve.pid", std::to_string(child_) + "\n", 0644);
}

// The server's first key, for root and the group oyat.
void LocalServer::share_key() const {
    const fs::path file = fs::path{options_.state} / "api-key";
    std::string known = key();
    if (known.empty()) known = "e2b_" + random_hex(20);
    write_private(file, known, 0640);
    if (const group* members = ::getgrnam("oyat")) {
        sys(::chown(file.c_str(), 0, members->gr_gid), "give the group oyat " + file.string());
    }
}

std::string LocalServer::key() const {
    return first_line_of(fs::path{options_.state} / "api-key");
}

std::string LocalServer::url(const Settings& settings) const {
    if (!options_.listen && has_unit()) return settings.url;
    return std::string{"http://"} + options_.listen.value_or(kUsualListen);
}

std::string LocalServer::last_words() const {
    std::string why;
    for (const auto& [path, before] : logs_before_) {
        std::ifstream log{path};
        log.seekg(static_cast<std::streamoff>(before));
        constexpr std::string_view kScriptsWord = "error: ";
        for (std::string line; std::getline(log, line);) {
            if (line.starts_with(kScriptsWord)) why = line.substr(kScriptsWord.size());
            boost::system::error_code problem;
            const boost::json::value entry = boost::json::parse(line, problem);
            if (!problem && text(entry, "level") == "error" && !text(entry, "why").empty())
                why = text(entry, "why");
        }
        if (!why.empty()) break;
    }
    return why;
}

// The process that `up` left there, if it still is that process.
std::optional<pid_t> LocalServer::serve_pid() const {
    const std::string text = first_line_of(fs::path{options_.state} / "serve.pid");
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != text.npos)
        return std::nullopt;
    std::ifstream file{"/proc/" + text + "/cmdline"};
    std::ostringstream words;
    words << file.rdbuf();
    const std::string line = words.str();
    if (line.find("serve") == line.npos || line.find(options_.state) == line.npos) return std::nullopt;
    return std::stoi(text);
}

Task<bool> LocalServer::stop() {
    need_root();
    if (has_unit()) co_return run_program({"systemctl", "stop", kUnit}) == 0;
    const std::optional<pid_t> pid = serve_pid();
    if (!pid) co_return false;
    ::kill(*pid, SIGTERM);
    const MonoTime deadline = SystemClock{}.mono() + kStopLimit;
    while (serve_pid() == pid) {
        if (SystemClock{}.mono() > deadline) {
            throw Failure{Error{Errc::deadline, Fault::engine, "the server did not stop"},
                          "its log is " + options_.state + "/log/serve.log"};
        }
        co_await sleep_for(kPoll);
    }
    fs::remove(fs::path{options_.state} / "serve.pid");
    co_return true;
}

void LocalServer::make_base_template() const {
    need_root();
    if (run_program({tool("make-base").string(), "--if-absent"}, tree_environment()) != 0) {
        throw Failure{Error{Errc::unavailable, Fault::image, "the base template could not be made"},
                      "with an archive of it: oyat template import FILE --name base"};
    }
}

std::map<std::string, std::string> LocalServer::tree_environment() const {
    return {{"OYAT_BUILD", bin_.parent_path().string()}};
}

// Installed, or of the tree that this program was built in (build/<preset>/bin).
fs::path LocalServer::tool(const std::string& name) const {
    const fs::path tree = bin_.parent_path().parent_path().parent_path() / "scripts" / name;
    if (fs::exists(tree)) return tree;
    const fs::path installed = fs::path{kInstalledTools} / name;
    if (fs::exists(installed)) return installed;
    throw Failure{Error{Errc::not_found, Fault::oyat_operator,
                        "neither " + installed.string() + " nor " + tree.string() + " is there"},
                  "install the package, or run scripts/setup in the source tree"};
}

}  // namespace oyat::cli
