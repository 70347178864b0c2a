#include "layers/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

std::string path_of(const std::string& program) {
    for (const char* dir : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
        std::string path = dir + program;
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    throw Error{Errc::not_found, program + " is not installed"};
}

}  // namespace

void run_program(std::vector<std::string> argv) {
    const std::string path = path_of(argv.at(0));
    std::array<int, 2> ends{};
    sys(::pipe2(ends.data(), O_CLOEXEC), "pipe");
    const Fd read_end{ends[0]};
    Fd write_end{ends[1]};

    std::vector<char*> arguments;
    for (std::string& argument : argv) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::array<char*, 1> environment{nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
    pid_t child = -1;
    const int failed =
        ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw errno_error(failed, "start " + argv[0]);

    write_end.reset();
    std::string said;
    std::array<char, 1024> buffer;
    while (const ssize_t got = ::read(read_end.get(), buffer.data(), buffer.size())) {
        if (got < 0) break;
        if (said.size() < 4096) said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    sys(::waitpid(child, &status, 0), "wait for " + argv[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    throw Error{Errc::internal, argv[0] + " failed: " + said};
}

}  // namespace oyat::layers
