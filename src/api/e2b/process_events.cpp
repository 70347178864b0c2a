#include "api/e2b/process_events.hpp"

#include <signal.h>

#include "base/json_escape.hpp"
#include "rpc/base64.hpp"

namespace oyat::e2b {
namespace {

// The words that the published agent uses.
std::string_view signal_word(int signal) {
    switch (signal) {
        case SIGHUP: return "hangup";
        case SIGINT: return "interrupt";
        case SIGQUIT: return "quit";
        case SIGILL: return "illegal instruction";
        case SIGTRAP: return "trace/breakpoint trap";
        case SIGABRT: return "aborted";
        case SIGBUS: return "bus error";
        case SIGFPE: return "floating point exception";
        case SIGKILL: return "killed";
        case SIGUSR1: return "user defined signal 1";
        case SIGSEGV: return "segmentation fault";
        case SIGUSR2: return "user defined signal 2";
        case SIGPIPE: return "broken pipe";
        case SIGALRM: return "alarm clock";
        case SIGTERM: return "terminated";
        case SIGXCPU: return "CPU time limit exceeded";
        case SIGXFSZ: return "file size limit exceeded";
        case SIGSYS: return "bad system call";
        default: return "";
    }
}

std::string_view channel_word(core::OutputChannel channel) {
    switch (channel) {
        case core::OutputChannel::out: return "stdout";
        case core::OutputChannel::err: return "stderr";
        case core::OutputChannel::pty: return "pty";
    }
    return "stdout";
}

// A limit that was hit while it ran is the likely cause of a bad end, and the client should not have to
// guess.
std::string cause_text(const core::ProcessEnd& end) {
    if (end.oom) return " (a process was killed: the sandbox's memory limit was reached)";
    if (!end.limit.empty()) return " (the sandbox's limit was reached: " + end.limit + ")";
    return "";
}

}  // namespace

std::string status_text(const core::ProcessEnd& end) {
    if (end.signal == 0) return "exit status " + std::to_string(end.exit_code);
    const std::string_view word = signal_word(end.signal);
    return "signal: " + (word.empty() ? "signal " + std::to_string(end.signal) : std::string{word});
}

void append_start(std::string& json, std::uint32_t pid) {
    json += R"({"event":{"start":{"pid":)";
    json += std::to_string(pid);
    json += "}}}";
}

void append_output(std::string& json, const core::Output& output) {
    json += R"({"event":{"data":{")";
    json += channel_word(output.channel);
    json += R"(":")";
    rpc::append_base64(json, output.bytes);
    json += R"("}}})";
}

void append_end(std::string& json, const core::ProcessEnd& end) {
    const bool exited = end.signal == 0;
    const std::string status = status_text(end);
    json += R"({"event":{"end":{"exitCode":)";
    json += std::to_string(exited ? end.exit_code : -1);
    json += R"(,"exited":)";
    json += exited ? "true" : "false";
    json += R"(,"status":)";
    append_json_string(json, status);
    if (!exited || end.exit_code != 0) {
        json += R"(,"error":)";
        append_json_string(json, status + cause_text(end));
    }
    json += "}}}";
}

void append_process(std::string& json, const core::Process& process) {
    const core::RunRequest& request = process.request();
    json += R"({"config":{"cmd":)";
    append_json_string(json, request.argv.empty() ? std::string_view{} : request.argv.front());
    json += R"(,"args":[)";
    for (std::size_t i = 1; i < request.argv.size(); ++i) {
        if (i > 1) json += ',';
        append_json_string(json, request.argv[i]);
    }
    json += R"(],"envs":{)";
    bool first = true;
    for (const auto& [name, value] : request.env) {
        if (!first) json += ',';
        first = false;
        append_json_string(json, name);
        json += ':';
        append_json_string(json, value);
    }
    json += '}';
    if (!request.cwd.empty()) {
        json += R"(,"cwd":)";
        append_json_string(json, request.cwd);
    }
    json += R"(},"pid":)";
    json += std::to_string(process.pid());
    if (!request.tag.empty()) {
        json += R"(,"tag":)";
        append_json_string(json, request.tag);
    }
    json += '}';
}

}  // namespace oyat::e2b
