#include "metrics/metrics.hpp"

#include <gtest/gtest.h>

namespace oyat::metrics {
namespace {

core::Event event(std::string type, boost::json::object fields = {}) {
    core::Event e;
    e.type = std::move(type);
    e.sandbox = "i0000000000000000secret";
    e.tenant = "acme";
    e.fields = std::move(fields);
    return e;
}

class MetricsTest : public testing::Test {
protected:
    std::string render() {
        return metrics.render(
            {.sandboxes_by_state = [] { return std::map<std::string, std::size_t>{{"running", 3}}; },
             .http_connections = [] { return std::size_t{2}; }});
    }
    void expect_line(const std::string& line) {
        const std::string text = render();
        EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\nis not in\n" << text;
    }

    SystemClock clock;
    Metrics metrics{clock, "0.1.0"};
};

TEST_F(MetricsTest, CountsEventsByType) {
    metrics.count(event("command.started"));
    metrics.count(event("command.started"));
    expect_line("oyat_events_total{type=\"command.started\"} 2");
}

TEST_F(MetricsTest, TellsHowCommandsEnded) {
    metrics.count(event("command.exited", {{"exit", 0}}));
    metrics.count(event("command.exited", {{"exit", 3}}));
    metrics.count(event("command.exited", {{"exit", -1}, {"signal", 9}, {"timed_out", true}}));
    metrics.count(event("command.exited", {{"exit", -1}, {"signal", 9}, {"oom", true}}));
    expect_line("oyat_commands_total{result=\"ok\"} 1");
    expect_line("oyat_commands_total{result=\"failed\"} 1");
    expect_line("oyat_commands_total{result=\"timed_out\"} 1");
    expect_line("oyat_commands_total{result=\"oom\"} 1");
}

TEST_F(MetricsTest, AddsUpThePhasesOfCreates) {
    metrics.count(event("sandbox.started", {{"phases", {{"started", 1500}}}}));
    metrics.count(event("sandbox.started", {{"phases", {{"started", 500}}}}));
    expect_line("oyat_create_phase_seconds_sum{phase=\"started\"} 0.002");
    expect_line("oyat_create_phase_seconds_count{phase=\"started\"} 2");
}

TEST_F(MetricsTest, ShowsWhatHasAValueAtAnyTime) {
    expect_line("oyat_sandboxes{state=\"running\"} 3");
    expect_line("oyat_http_connections 2");
    expect_line("oyat_build_info{version=\"0.1.0\"} 1");
    EXPECT_EQ(render().find("process_resident_memory_bytes 0\n"), std::string::npos);
}

TEST_F(MetricsTest, NamesNoSandboxAndNoTenant) {
    metrics.count(event("sandbox.created", {{"template", "base"}}));
    const std::string text = render();
    EXPECT_EQ(text.find("secret"), std::string::npos);
    EXPECT_EQ(text.find("acme"), std::string::npos);
}

TEST(Family, KeepsABoundOnLabelValues) {
    Family family{Family::Kind::counter, "x_total", "Test.", "label"};
    for (int n = 0; n < 1000; ++n) family.add("v" + std::to_string(n), 1);
    std::string text;
    family.append_to(text);
    EXPECT_NE(text.find("x_total{label=\"other\"} 872\n"), std::string::npos) << text;
}

TEST(Family, EscapesLabelValues) {
    Family family{Family::Kind::counter, "x_total", "Test.", "label"};
    family.add("a\"b\\c\nd", 1);
    std::string text;
    family.append_to(text);
    EXPECT_NE(text.find("x_total{label=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace oyat::metrics
