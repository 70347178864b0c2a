#include "agent/launch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/child.hpp"
#include "agent/path_rules.hpp"
#include "agent/pty.hpp"

namespace oyat::agent {
namespace {

constexpr std::uint64_t kDefaultNofile = 65'536;
// Kept as long as the process, and repeated in every listing.
constexpr std::size_t kMaxTag = 16 * 1024;
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Environment = std::map<std::string, std::string>;

Answer<Environment> build_environment(const wire::Spawn& spawn, const Settings& settings, const User& user) {
    Environment merged{{"PATH", kDefaultPath},
                       {"HOME", user.account.home},
                       {"USER", user.account.name},
                       {"LOGNAME", user.account.name},
                       {"SHELL", user.account.shell}};
    for (const Environment* layer : {&settings.configured.env, &spawn.env, &spawn.forced_env}) {
        for (const auto& [name, value] : *layer) {
            if (name.empty() || name.find('=') != name.npos || name.find('\0') != name.npos) {
                return refused(Errc::invalid_argument,
                               quoted(name) + " is no name of an environment variable");
            }
            if (value.find('\0') != value.npos) {
                return refused(Errc::invalid_argument,
                               "environment variable " + quoted(name) + " contains a NUL byte");
            }
            merged[name] = value;
        }
    }
    return merged;
}

std::vector<std::string> programs_to_try(const std::string& program, std::string_view path) {
    if (program.empty()) return {};
    if (program.find('/') != program.npos) return {program};
    std::vector<std::string> tries;
    while (true) {
        const std::size_t at = std::min(path.find(':'), path.size());
        const std::string_view directory = path.substr(0, at);
        tries.push_back((directory.empty() ? "." : std::string{directory}) + "/" + program);
        if (at == path.size()) return tries;
        path.remove_prefix(at + 1);
    }
}

// The null-terminated array that execve wants; the strings stay where they are.
std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::uint64_t file_limit(std::uint64_t wanted) {
    rlimit own{};
    ::getrlimit(RLIMIT_NOFILE, &own);
    return std::min<std::uint64_t>(wanted == 0 ? kDefaultNofile : wanted, own.rlim_max);
}

// The agent may have been given a score that keeps the OOM killer away.
bool has_oom_score() {
    static const bool kHas = [] {
        const Fd file{::open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC)};
        char score = '0';
        return file && ::read(file.get(), &score, 1) == 1 && score != '0';
    }();
    return kHas;
}

// The descriptors that the program gets, until it has them.
struct Stdio {
    Fd input;
    Fd output;
    Fd error;
};

struct Pipe {
    Fd read;
    Fd write;
};

// `own_end` (0: read, 1: write) is the agent's.
Answer<Pipe> make_pipe(std::uint32_t owner, int own_end) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno(errno, "make a pipe");
    Pipe pipe{.read = Fd{ends[0]}, .write = Fd{ends[1]}};
    ::fcntl(ends[static_cast<std::size_t>(own_end)], F_SETFL, O_NONBLOCK);
    if (owner != ::geteuid()) static_cast<void>(::fchown(ends[0], owner, static_cast<gid_t>(-1)));
    return pipe;
}

Status open_terminal(const wire::Spawn& spawn, std::uint32_t owner, Launched& launched, Stdio& stdio) {
    Answer<Pty> pty = open_pty(*spawn.pty, owner);
    if (!pty) return pty.error();
    launched.terminal = true;
    launched.input = Fd{::fcntl(pty->master.get(), F_DUPFD_CLOEXEC, 3)};
    launched.outputs[0] = std::move(pty->master);
    stdio.output = Fd{::fcntl(pty->slave.get(), F_DUPFD_CLOEXEC, 3)};
    stdio.error = Fd{::fcntl(pty->slave.get(), F_DUPFD_CLOEXEC, 3)};
    stdio.input = std::move(pty->slave);
    if (!launched.input || !stdio.output || !stdio.error) return errno_refusal(errno, "open a terminal");
    return {};
}

// The pipes belong to the user, who could not open /dev/stdout otherwise.
Status open_pipes(const wire::Spawn& spawn, std::uint32_t owner, Launched& launched, Stdio& stdio) {
    if (spawn.stdin_open) {
        Answer<Pipe> input = make_pipe(owner, 1);
        if (!input) return input.error();
        stdio.input = std::move(input->read);
        launched.input = std::move(input->write);
    } else {
        stdio.input = Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        if (!stdio.input) return errno_refusal(errno, "open /dev/null");
    }
    Answer<Pipe> output = make_pipe(owner, 0);
    Answer<Pipe> error = make_pipe(owner, 0);
    if (!output) return output.error();
    if (!error) return error.error();
    launched.outputs[0] = std::move(output->read);
    launched.outputs[1] = std::move(error->read);
    stdio.output = std::move(output->write);
    stdio.error = std::move(error->write);
    return {};
}

// A sentence for the one who asked.
Status explain(const ChildFailure& failure, const std::string& program, const std::string& cwd) {
    const int err = failure.err;
    if (err == EAGAIN) return refusal(Errc::exhausted, "process limit reached", err);
    if (err == ENOMEM) return refusal(Errc::exhausted, "memory limit reached", err);
    switch (failure.step) {
        case ChildStep::started: return {};
        case ChildStep::group: return errno_refusal(err, "start a process");
        case ChildStep::session: return errno_refusal(err, "start a session");
        case ChildStep::terminal: return errno_refusal(err, "take the terminal");
        case ChildStep::limits: return errno_refusal(err, "set the limit of open files");
        case ChildStep::identity: return errno_refusal(err, "become the user");
        case ChildStep::directory:
            if (err == EACCES)
                return refusal(Errc::denied, "cwd " + quoted(cwd) + ": permission denied", err);
            if (err == ENOTDIR) {
                return refusal(Errc::invalid_argument, "cwd " + quoted(cwd) + " is not a directory", err);
            }
            return refusal(Errc::invalid_argument, "cwd " + quoted(cwd) + " does not exist", err);
        case ChildStep::program:
            if (err == ENOENT)
                return refusal(Errc::not_found, "program " + quoted(program) + " not found", err);
            if (err == EACCES) {
                return refusal(Errc::denied, "program " + quoted(program) + ": permission denied", err);
            }
            if (err == E2BIG) {
                return refusal(Errc::invalid_argument, "arguments and environment are too long", err);
            }
            return errno_refusal(err, "run " + quoted(program));
        case ChildStep::held_up:
            return refusal(Errc::failed_precondition,
                           "a process of the sandbox stopped the program at its start", err);
    }
    return errno_refusal(err, "start a process");
}

Status start(ChildPlan& plan, Launched& launched, const std::string& program, CommandGroups& groups) {
    const auto attempt = [&](ChildFailure& failure) {
        return plan.go >= 0 ? start_held_child(plan, failure) : start_child(plan, failure);
    };
    ChildFailure failure;
    plan.cgroup = launched.group.directory();
    launched.pid = attempt(failure);
    if (launched.pid < 0 && plan.cgroup >= 0 && failure.step == ChildStep::group && failure.err != EAGAIN) {
        // A group that takes no processes is none; the tree is then found through /proc.
        plan.cgroup = -1;
        launched.pid = attempt(failure);
        groups.retire(std::exchange(launched.group, {}));
    }
    return launched.pid < 0 ? explain(failure, program, launched.cwd) : Status{};
}

}  // namespace

Answer<Launched> launch(const wire::Spawn& spawn, const Settings& settings, const User& user,
                        CommandGroups& groups) {
    if (spawn.argv.empty()) return refused(Errc::invalid_argument, "no program given");
    for (const std::string& argument : spawn.argv) {
        if (argument.find('\0') != argument.npos)
            return refused(Errc::invalid_argument, "argument contains a NUL byte");
    }
    if (spawn.tag.size() > kMaxTag) {
        return refused(Errc::invalid_argument, "tag is longer than " + std::to_string(kMaxTag) + " bytes");
    }
    const Answer<Environment> environment = build_environment(spawn, settings, user);
    if (!environment) return std::unexpected{environment.error()};
    const std::string& home = user.account.home;
    const Answer<std::string> usual =
        resolve_path(settings.configured.default_cwd, home, home, Dots::by_links);
    if (!usual) return std::unexpected{usual.error()};
    Answer<std::string> cwd = resolve_path(spawn.cwd, home, *usual, Dots::by_links);
    if (!cwd) return std::unexpected{cwd.error()};

    Launched launched;
    launched.cwd = *std::move(cwd);
    Stdio stdio;
    Status opened = spawn.pty ? open_terminal(spawn, user.account.uid, launched, stdio)
                              : open_pipes(spawn, user.account.uid, launched, stdio);
    if (opened.code != 0) return std::unexpected{std::move(opened)};

    std::vector<std::string> argv = spawn.argv;
    std::vector<std::string> variables;
    for (const auto& [name, value] : *environment) variables.push_back(name + "=" + value);
    std::vector<std::string> programs = programs_to_try(spawn.argv[0], environment->at("PATH"));
    const std::vector<char*> argv_pointers = pointers_to(argv);
    const std::vector<char*> variable_pointers = pointers_to(variables);
    const std::vector<char*> program_pointers = pointers_to(programs);
    std::string shell = "sh";
    std::vector<char*> shell_pointers = argv_pointers;
    shell_pointers.insert(shell_pointers.begin(), shell.data());

    ChildPlan plan{.stdio = {stdio.input.get(), stdio.output.get(), stdio.error.get()},
                   .terminal = launched.terminal,
                   .nofile = file_limit(settings.configured.nofile),
                   .reset_oom_score = has_oom_score(),
                   .change_identity = ::geteuid() == 0,
                   .uid = user.account.uid,
                   .gid = user.account.gid,
                   .groups = user.groups.data(),
                   .group_count = user.groups.size(),
                   .cwd = launched.cwd.c_str(),
                   .fallback_cwd = spawn.cwd.empty() ? "/" : nullptr,
                   .candidates = program_pointers.data(),
                   .argv = argv_pointers.data(),
                   .shell_argv = shell_pointers.data(),
                   .envp = variable_pointers.data()};
    Pipe go;
    Pipe result;
    if (spawn.hold) {
        Answer<Pipe> go_pipe = make_pipe(::geteuid(), 1);
        Answer<Pipe> result_pipe = make_pipe(::geteuid(), 0);
        if (!go_pipe) return std::unexpected{go_pipe.error()};
        if (!result_pipe) return std::unexpected{result_pipe.error()};
        go = *std::move(go_pipe);
        result = *std::move(result_pipe);
        plan.go = go.read.get();
        plan.result = result.write.get();
    }
    launched.group = groups.make();
    Status started = start(plan, launched, spawn.argv[0], groups);
    if (started.code != 0) {
        groups.retire(std::move(launched.group));
        return std::unexpected{std::move(started)};
    }
    launched.go = std::move(go.write);
    launched.result = std::move(result.read);
    return launched;
}

Status held_failure(int result, const wire::Spawn& spawn, const std::string& cwd) {
    ChildFailure failure;
    if (::read(result, &failure, sizeof failure) != sizeof failure) return {};
    return explain(failure, spawn.argv.empty() ? "" : spawn.argv[0], cwd);
}

}  // namespace oyat::agent
