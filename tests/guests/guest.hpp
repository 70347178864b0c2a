#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

// What the hostile programs share. A guest runs inside a sandbox, tries forbidden things, and prints one JSON
// line a try:
//   {"id":"J-06","try":"socket(AF_ALG)","errno":"EPERM","as":0,"verdict":"refused"}
// Exit code: 0 everything was refused as specified, 1 something got through or failed in another way, 2
// nothing was tried.
class Guest {
public:
    explicit Guest(const char* id) : id_{id} {}

    // A call that must fail with one of the expected errors.
    void must_fail(const char* what, long result, std::initializer_list<int> expected) {
        const int err = errno;
        bool fits = false;
        for (const int each : expected) fits = fits || each == err;
        report(what, result >= 0 ? "0" : name_of(err), result < 0 && fits);
    }

    // Any other condition that must hold.
    void must_hold(const char* what, bool holds) { report(what, "", holds); }

    [[nodiscard]] int finish() const { return tries_ == 0 ? 2 : failures_ == 0 ? 0 : 1; }

private:
    static const char* name_of(int err) {
        const char* name = strerrorname_np(err);
        return name != nullptr ? name : "?";
    }
    void report(const char* what, const char* err, bool refused) {
        ++tries_;
        failures_ += refused ? 0 : 1;
        printf("{\"id\":\"%s\",\"try\":\"%s\",\"errno\":\"%s\",\"as\":%u,\"verdict\":\"%s\"}\n", id_, what,
               err, static_cast<unsigned>(getuid()), refused ? "refused" : "GOT THROUGH");
        fflush(stdout);
    }

    const char* id_;
    int tries_ = 0;
    int failures_ = 0;
};

// Runs `body` in a child of its own and says how that ended (its exit code, or 128 + signal).
template <class F>
int in_child(F body) {
    const pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) _exit(body());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
