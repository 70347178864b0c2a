#include "cli/child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::cli {
namespace {

constexpr int kCannotStart = 127;

[[noreturn]] void become(const std::vector<std::string>& argv,
                         const std::map<std::string, std::string>& env) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(words[0], words.data());
    ::_exit(kCannotStart);
}

}  // namespace

int run_program(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env) {
    const pid_t pid = sys(::fork(), "start " + argv.at(0));
    if (pid == 0) become(argv, env);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kCannotStart;
}

pid_t start_detached(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
                     const std::string& log) {
    const Fd output{sys(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640), "open " + log)};
    const Fd nothing{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")};
    const pid_t pid = sys(::fork(), "start " + argv.at(0));
    if (pid != 0) return pid;
    ::setsid();
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(output.get(), STDOUT_FILENO);
    ::dup2(output.get(), STDERR_FILENO);
    become(argv, env);
}

}  // namespace oyat::cli
