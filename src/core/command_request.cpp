#include "core/command_request.hpp"

#include <algorithm>
#include <utility>

#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::core {
namespace {

constexpr char kTagMark = '\x1f';

bool has_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

bool has_nul(const std::map<std::string, std::string>& variables) {
    return std::ranges::any_of(variables,
                               [](const auto& each) { return has_nul(each.first) || has_nul(each.second); });
}

bool has_bad_name(const std::map<std::string, std::string>& variables) {
    return std::ranges::any_of(variables, [](const auto& each) {
        return each.first.empty() || each.first.find('=') != std::string::npos;
    });
}

}  // namespace

std::optional<Error> malformed(const RunRequest& request) {
    const auto wrong = [](std::string what) { return Error{Errc::invalid_argument, std::move(what)}; };
    if (request.argv.empty() || request.argv.front().empty()) return wrong("no command was given");
    if (std::ranges::any_of(request.argv, [](const auto& each) { return has_nul(each); }) ||
        has_nul(request.cwd) || has_nul(request.user) || has_nul(request.env) ||
        has_nul(request.forced_env)) {
        return wrong("command, directory, user and variables must not hold NUL bytes");
    }
    if (has_bad_name(request.env)) return wrong("names of variables must not be empty or hold '='");
    return std::nullopt;
}

Event requested_event(const SandboxRecord& record, const RunRequest& request, const Principal& who) {
    Event event = sandbox_event(record, "command.requested");
    event.fields["argv"] = json_texts(request.argv);
    event.fields["cwd"] = json_text(request.cwd);
    event.fields["user"] = json_text(request.user);
    event.fields["env_names"] = json_names(request.env);
    event.fields["pty"] = request.pty.has_value();
    event.fields["stdin"] = request.stdin_open;
    if (request.wall) event.fields["wall_ms"] = request.wall->count();
    if (!request.tag.empty()) event.fields["tag"] = json_text(request.tag);
    add_who(event, who);
    return event;
}

std::string write_mark(const MarkedTag& tag) {
    return tag.command + kTagMark + tag.tag;
}

MarkedTag read_mark(const std::string& text) {
    const std::size_t mark = text.find(kTagMark);
    if (mark == std::string::npos) return {.command = {}, .tag = text};
    return {.command = text.substr(0, mark), .tag = text.substr(mark + 1)};
}

}  // namespace oyat::core
