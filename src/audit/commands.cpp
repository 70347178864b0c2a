#include "audit/commands.hpp"

#include <fcntl.h>

#include <boost/json/array.hpp>
#include <map>
#include <utility>

#include "audit/line.hpp"
#include "audit/record_json.hpp"
#include "audit/segment_file.hpp"
#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::audit {
namespace {

using boost::json::object;

// The members of that name, null where there is none: a joined record always has the same shape.
object pick(const object& from, std::initializer_list<std::string_view> keys) {
    object picked;
    for (const std::string_view key : keys) {
        const auto* value = from.if_contains(key);
        picked[key] = value ? *value : boost::json::value{};
    }
    return picked;
}

// How a command came out, in one word.
std::string_view outcome_of(const object& exited) {
    if (is_true(exited, "oom")) return "oom";
    if (is_true(exited, "timed_out")) return "timed_out";
    if (!text_of(exited, "limit").empty()) return "limit";
    if (number_of(exited, "signal") != 0) return "killed";
    const auto* exit = exited.if_contains("exit");
    if (!exit || exit->is_null()) return "lost";
    return exit->is_number() && exit->to_number<double>() == 0 ? "ok" : "failed";
}

// One command between its request and its end.
struct Running {
    object joined;
    std::map<std::string, object> network;  // by what makes a line of it
    boost::json::array overlaps;
    boost::json::array events;
};

class Joiner {
public:
    explicit Joiner(const std::function<void(const object&)>& take) : take_{take} {}

    void see(const object& event) {
        const std::string type = text_of(event, "type");
        if (type == "sandbox.created") {
            created_ = pick(event, {"engine", "boundary", "kernel", "template", "template_digest"});
        } else if (type == "command.requested") {
            request(event);
        } else if (type.starts_with("command.")) {
            go_on(event, type);
        } else if (type.starts_with("connect.") || type == "dns.denied") {
            for (auto& [id, command] : running_) count_destination(command, event, type);
        } else if (type == "limit.hit" || type == "oom") {
            for (auto& [id, command] : running_) command.events.emplace_back(text_of(event, "id"));
        }
    }

    void end() {
        for (auto& [id, command] : std::exchange(running_, {})) finish(std::move(command), "unknown", {});
    }

private:
    void request(const object& event) {
        const std::string id = text_of(event, "id");
        Running command;
        for (auto& [other, beside] : running_) {
            beside.overlaps.emplace_back(id);
            command.overlaps.emplace_back(other);
        }
        command.events.emplace_back(id);
        command.joined = {{"v", 1}, {"command", id}};
        for (const auto& [key, value] : pick(event, {"tenant", "sandbox"})) command.joined[key] = value;
        command.joined["asked"] = pick(event, {"t", "key", "client", "protocol"});
        command.joined["request"] =
            pick(event, {"argv", "cwd", "user", "env_names", "pty", "stdin", "wall_ms", "tag"});
        command.joined["verdict"] = pick(event, {"verdict"}).at("verdict");
        running_.insert_or_assign(id, std::move(command));
    }

    void go_on(const object& event, const std::string& type) {
        const auto found = running_.find(text_of(event, "command"));
        if (found == running_.end()) return;
        Running& command = found->second;
        command.events.emplace_back(text_of(event, "id"));
        if (type == "command.exited") {
            finish(std::move(command), outcome_of(event), event);
        } else if (type == "command.denied") {
            finish(std::move(command), "denied", event);
        } else if (type == "command.failed") {
            finish(std::move(command), "not_started", event);
        } else {
            return;
        }
        running_.erase(found);
    }

    static void count_destination(Running& command, const object& event, const std::string& type) {
        std::string key = type;
        for (const std::string_view part : {"host", "name", "addr", "rule"})
            key += "\n" + text_of(event, part);
        key += "\n" + std::to_string(number_of(event, "port"));
        object& line = command.network[key];
        if (line.empty()) {
            line = pick(event, {"type", "host", "name", "addr", "port", "rule", "reason"});
            line["count"] = line["up"] = line["down"] = 0;
        }
        line["count"] = number_of(line, "count") + 1;
        for (const std::string_view way : {"up", "down"})
            line[way] = number_of(line, way) + number_of(event, way);
    }

    void finish(Running command, std::string_view outcome, const object& end) {
        object& joined = command.joined;
        joined["outcome"] = outcome;
        for (const auto& [key, value] : pick(end, {"fault", "sentence"})) joined[key] = value;
        joined["process"] = pick(end, {"pid", "started", "ended", "duration_ms", "exit", "signal",
                                       "timed_out", "oom", "limit", "killed_by_api", "stdin_bytes", "by"});
        joined["resources"] = pick(end, {"resources"}).at("resources");
        joined["masking"] = pick(end, {"masking"}).at("masking");
        joined["output"] = pick(end, {"stdout", "stderr", "pty", "since_restart"});
        boost::json::array network;
        for (auto& [key, line] : command.network) network.emplace_back(std::move(line));
        joined["network"] = std::move(network);
        joined["overlaps"] = std::move(command.overlaps);
        joined["events"] = std::move(command.events);
        joined["boundary"] = created_;
        take_(joined);
    }

    const std::function<void(const object&)>& take_;
    object created_;
    std::map<std::string, Running> running_;
};

void see_segment(const SegmentFile& segment, const std::string& sandbox, Joiner& joiner) {
    const Fd file{sys(::open(segment.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW),
                      "open " + segment.path.native())};
    for_each_line(file.get(), [&](const RawLine& raw) {
        const auto line = parse_line(raw.text);
        if (!line) return true;
        const object event = parse_record(line->record);
        if (segment.name.chain == sandbox || text_of(event, "sandbox") == sandbox) joiner.see(event);
        return true;
    });
}

}  // namespace

void for_each_command(const std::filesystem::path& directory, const std::string& sandbox,
                      const std::function<void(const object&)>& take) {
    Joiner joiner{take};
    const auto see_all = [&](std::string_view chain) {
        for (const SegmentFile& segment : list_segments(directory)) {
            if (segment.name.chain == chain) see_segment(segment, sandbox, joiner);
        }
    };
    see_all(sandbox);
    see_all(kFullDiskChain);
    joiner.end();
}

}  // namespace oyat::audit
