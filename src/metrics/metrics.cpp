#include "metrics/metrics.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

namespace oyat::metrics {
namespace {

std::string_view text_of(const boost::json::object& fields, std::string_view key) {
    const auto* value = fields.if_contains(key);
    return value && value->is_string() ? std::string_view{value->get_string()} : std::string_view{};
}

double number_of(const boost::json::object& fields, std::string_view key) {
    const auto* value = fields.if_contains(key);
    return value && value->is_number() ? value->to_number<double>() : 0;
}

bool is_true(const boost::json::object& fields, std::string_view key) {
    const auto* value = fields.if_contains(key);
    return value && value->is_bool() && value->get_bool();
}

std::string_view result_of(const boost::json::object& fields) {
    if (is_true(fields, "oom")) return "oom";
    if (is_true(fields, "timed_out")) return "timed_out";
    if (number_of(fields, "signal") != 0) return "killed";
    return number_of(fields, "exit") == 0 ? "ok" : "failed";
}

double resident_bytes() {
    const std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen("/proc/self/statm", "re"), &std::fclose};
    unsigned long total = 0;
    unsigned long resident = 0;
    if (!file || std::fscanf(file.get(), "%lu %lu", &total, &resident) != 2) return 0;
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory{::opendir("/proc/self/fd"), &::closedir};
    int count = -3;  // ".", ".." and the directory's own
    while (directory && ::readdir(directory.get()) != nullptr) ++count;
    return directory ? count : 0;
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Metrics::Metrics(const Clock& clock, std::string version) : clock_{clock}, started_{clock.mono()} {
    build_.set(version, 1);
}

void Metrics::count(const core::Event& event) {
    events_.add(event.type, 1);
    if (event.fault) faults_.add(to_string(*event.fault), 1);
    if (event.type == "sandbox.started") {
        count_phases(event.fields);
    } else if (event.type == "sandbox.ended") {
        ended_.add(text_of(event.fields, "ended_by"), 1);
    } else if (event.type == "command.exited") {
        commands_.add(result_of(event.fields), 1);
    } else if (event.type == "limit.hit") {
        limits_.add(text_of(event.fields, "limit"), 1);
    } else if (event.type == "connect.closed") {
        egress_.add("up", number_of(event.fields, "up"));
        egress_.add("down", number_of(event.fields, "down"));
    }
}

void Metrics::count_phases(const boost::json::object& fields) {
    const auto* phases = fields.if_contains("phases");
    if (!phases || !phases->is_object()) return;
    for (const auto& [name, micros] : phases->get_object()) {
        phase_sum_.add(name, micros.is_number() ? micros.to_number<double>() / 1e6 : 0);
        phase_count_.add(name, 1);
    }
}

void Metrics::count_request(std::string_view front) {
    requests_.add(front, 1);
}

void Metrics::measure_process() {
    uptime_.set("", std::chrono::duration<double>(clock_.mono() - started_).count());
    memory_.set("", resident_bytes());
    descriptors_.set("", open_descriptors());
    cpu_.set("", cpu_seconds());
}

std::string Metrics::render(const Gauges& gauges) {
    measure_process();
    sandboxes_.clear();
    for (const auto& [state, count] : gauges.sandboxes_by_state())
        sandboxes_.set(state, static_cast<double>(count));
    connections_.set("", static_cast<double>(gauges.http_connections()));
    std::string text;
    for (const Family* family :
         {&build_, &sandboxes_, &ended_, &phase_sum_, &phase_count_, &commands_, &limits_, &egress_, &events_,
          &faults_, &requests_, &connections_, &uptime_, &memory_, &descriptors_, &cpu_}) {
        family->append_to(text);
    }
    return text;
}

}  // namespace oyat::metrics
