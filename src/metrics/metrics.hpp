#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "core/event.hpp"
#include "metrics/family.hpp"

namespace oyat::metrics {

// What is asked when somebody scrapes, since it has a value at any time.
struct Gauges {
    std::function<std::map<std::string, std::size_t>()> sandboxes_by_state;
    std::function<std::size_t()> http_connections;
};

// The figures of one server. Counts events as they come by; names no tenant, sandbox, host or path.
class Metrics {
public:
    Metrics(const Clock& clock, std::string version);

    void count(const core::Event& event);        // a listener of the bus
    void count_request(std::string_view front);  // "e2b", "native"
    [[nodiscard]] std::string render(const Gauges& gauges);

private:
    void count_phases(const boost::json::object& fields);
    void measure_process();

    const Clock& clock_;
    MonoTime started_;
    Family build_{Family::Kind::gauge, "oyat_build_info", "Always 1; the label is the version.", "version"};
    Family events_{Family::Kind::counter, "oyat_events_total", "Events by type (docs/internals/events.md).",
                   "type"};
    Family faults_{Family::Kind::counter, "oyat_faults_total", "Failures by whose fault they were.", "fault"};
    Family ended_{Family::Kind::counter, "oyat_sandboxes_ended_total", "Sandboxes that ended, by why.",
                  "ended_by"};
    Family commands_{Family::Kind::counter, "oyat_commands_total", "Commands that ended, by how.", "result"};
    Family limits_{Family::Kind::counter, "oyat_limit_hits_total", "Limits of sandboxes that were hit.",
                   "limit"};
    Family phase_sum_{Family::Kind::counter, "oyat_create_phase_seconds_sum",
                      "Time spent in the phases of creates.", "phase"};
    Family phase_count_{Family::Kind::counter, "oyat_create_phase_seconds_count",
                        "Phases of creates that were measured.", "phase"};
    Family egress_{Family::Kind::counter, "oyat_egress_bytes_total",
                   "Bytes that sandboxes exchanged with the outside.", "direction"};
    Family requests_{Family::Kind::counter, "oyat_http_requests_total",
                     "Requests by the front that took them.", "front"};
    Family sandboxes_{Family::Kind::gauge, "oyat_sandboxes", "Sandboxes by state.", "state"};
    Family connections_{Family::Kind::gauge, "oyat_http_connections", "Open connections of clients."};
    Family uptime_{Family::Kind::gauge, "oyat_uptime_seconds", "Since this oyatd started."};
    Family memory_{Family::Kind::gauge, "process_resident_memory_bytes", "Memory of oyatd."};
    Family descriptors_{Family::Kind::gauge, "process_open_fds", "Descriptors that oyatd holds."};
    Family cpu_{Family::Kind::counter, "process_cpu_seconds_total", "CPU time that oyatd used."};
};

}  // namespace oyat::metrics
