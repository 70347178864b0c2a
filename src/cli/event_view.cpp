#include "cli/event_view.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/json_read.hpp"

namespace oyat::cli {
namespace {

namespace json = boost::json;

// Shown at the head of the line, or of no use to people.
constexpr std::array<std::string_view, 12> kElsewhere{"v",      "type",    "id", "seq",   "t",      "mono_ns",
                                                      "tenant", "sandbox", "by", "fault", "stdout", "stderr"};
constexpr std::size_t kShortId = 9, kLongestLine = 2000;

std::string shown(const json::value& value) {
    if (const json::string* text = value.if_string()) return printable({text->data(), text->size()});
    return printable(json::serialize(value));
}

std::string words(const json::value& event, std::string_view name) {
    std::string line;
    for (const json::value& word : list(event, name)) {
        if (!line.empty()) line += " ";
        const std::string text = shown(word);
        line += text.find(' ') == std::string::npos ? text : "'" + text + "'";
    }
    return line;
}

std::string place(const json::value& event) {
    const std::string address = text(event, "addr");
    if (address.empty()) return "the proxy itself  rule " + printable(text(event, "rule"));
    std::string host = printable(text(event, "host"));
    if (host.empty()) host = address;
    std::string line = host + ":" + std::to_string(number(event, "port"));
    if (host != address) line += " (" + address + ")";
    if (const std::string rule = text(event, "rule"); !rule.empty()) line += "  rule " + printable(rule);
    if (const std::string reason = text(event, "reason"); !reason.empty()) line += "  " + printable(reason);
    if (member(event, "up") != nullptr) {
        line +=
            "  up " + std::to_string(number(event, "up")) + " down " + std::to_string(number(event, "down"));
    }
    return line;
}

std::string how_it_ended(const json::value& event) {
    std::string line = words(event, "argv") + "  ";
    if (flag(event, "timed_out")) return line + "timed out";
    if (const auto signal = number(event, "signal"); signal > 0) {
        line += "killed by signal " + std::to_string(signal);
    } else {
        line += "exit " + std::to_string(number(event, "exit"));
    }
    if (const std::string limit = text(event, "limit"); !limit.empty())
        line += "  limit of " + printable(limit);
    return line;
}

// Whatever else there is, as name=value.
std::string members(const json::value& event) {
    std::string line;
    const json::object* object = event.if_object();
    if (object == nullptr) return line;
    for (const auto& [name, value] : *object) {
        const std::string_view key{name};
        if (std::ranges::find(kElsewhere, key) != kElsewhere.end() || value.is_null()) continue;
        if (!line.empty()) line += " ";
        line += std::string{key} + "=" + shown(value);
    }
    return line;
}

std::string what_happened(const json::value& event, const std::string& type) {
    if (type == "command.requested") {
        std::string line = "$ " + words(event, "argv");
        if (const std::string user = text(event, "user"); !user.empty()) line += "  as " + printable(user);
        if (const std::string cwd = text(event, "cwd"); !cwd.empty()) line += "  in " + printable(cwd);
        return line;
    }
    if (type == "command.exited") return how_it_ended(event);
    if (type.starts_with("connect.")) return place(event);
    return members(event);
}

// Output is shown as it was, line by line, without its control characters. What is no text for people has
// lines without end.
std::string indented(std::string_view output) {
    std::string lines;
    while (!output.empty()) {
        const std::size_t end = output.find('\n');
        const std::string_view whole = output.substr(0, end);
        const std::string_view line = whole.substr(0, kLongestLine);
        lines += "    " + printable(line);
        if (line.size() < whole.size())
            lines += " [" + std::to_string(whole.size() - line.size()) + " more bytes; --json has them]";
        lines += "\n";
        output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    }
    return lines;
}

std::string outputs(const json::value& event, const Paint& paint) {
    std::string lines;
    for (const std::string_view name : {"stdout", "stderr", "pty"}) {
        const json::value* kept = member(event, name);
        if (kept == nullptr || number(*kept, "bytes") == 0) continue;
        lines +=
            paint.dim("  " + std::string{name} + ", " + std::to_string(number(*kept, "bytes")) + " bytes") +
            "\n";
        lines += indented(text(*kept, "text"));
        lines += indented(text(*kept, "head"));
        if (member(*kept, "tail") != nullptr) {
            lines += paint.dim("    [the middle is not kept]") + "\n" + indented(text(*kept, "tail"));
        }
    }
    return lines;
}

// What happens now needs no date; a record that is read later does.
std::string time_of(const json::value& event, Output output) {
    const std::string time = text(event, "t");  // 2026-11-30T10:02:03.114Z
    if (time.size() < 23) return time;
    const std::string clock = time.substr(11, 12);
    return output == Output::shown ? time.substr(0, 10) + " " + clock : clock;
}

}  // namespace

std::string show_event(const json::value& event, const Paint& paint, Output output) {
    const std::string type = printable(text(event, "type"));
    const std::string fault = text(event, "fault");
    std::string line = paint.dim(printable(time_of(event, output))) + "  ";
    const std::string sandbox = text(event, "sandbox").substr(0, kShortId);
    line += paint.dim(sandbox.empty() ? "server   " : printable(sandbox)) + "  ";
    line += fault.empty() ? paint.bold(type) : paint.red(type);
    line += "  " + what_happened(event, type);
    if (!fault.empty()) line += "  " + paint.red("fault: " + printable(fault));
    line += "\n";
    if (output == Output::shown) line += outputs(event, paint);
    return line;
}

std::string show_event_line(std::string_view line, const Paint& paint, Output output) {
    boost::system::error_code problem;
    const json::value event = json::parse(line, problem);
    if (problem) return printable(line) + "\n";
    return show_event(event, paint, output);
}

std::string show_command(const json::value& command, const Paint& paint) {
    const json::value nothing;
    const auto part = [&](std::string_view name) -> const json::value& {
        const json::value* found = member(command, name);
        return found == nullptr ? nothing : *found;
    };
    const std::string outcome = printable(text(command, "outcome"));
    std::string line = outcome == "ok" ? paint.green(outcome) : paint.red(outcome);
    line += "  $ " + words(part("request"), "argv");
    if (outcome == "failed") line += "  exit " + std::to_string(number(part("process"), "exit"));
    if (outcome == "killed") line += "  signal " + std::to_string(number(part("process"), "signal"));
    if (outcome == "limit") line += "  limit of " + printable(text(part("process"), "limit"));
    line += "  " + std::to_string(number(part("process"), "duration_ms")) + " ms";
    line += paint.dim("  " + printable(text(part("asked"), "t")) + "  by " +
                      printable(text(part("asked"), "key")) + " " + printable(text(part("asked"), "client")));
    if (const std::string fault = text(command, "fault"); !fault.empty())
        line += "  " + paint.red("fault: " + printable(fault));
    if (const std::string sentence = text(command, "sentence"); !sentence.empty())
        line += "  " + printable(sentence);
    return line + "\n" + outputs(part("output"), paint);
}

}  // namespace oyat::cli
