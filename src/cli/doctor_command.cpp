#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/new_sandbox.hpp"

namespace oyat::cli {
namespace {

struct Finding {
    std::string what;
    bool good = false;
    std::string detail;
};

class Findings {
public:
    explicit Findings(const Context& context) : context_{context} {}

    void add(Finding finding) {
        if (!context_.json) {
            print((finding.good ? context_.paint.green("ok    ") : context_.paint.red("wrong ")) +
                  finding.what + (finding.detail.empty() ? "" : ": " + printable(finding.detail)) + "\n");
        }
        all_.push_back(std::move(finding));
    }
    // Runs a step that says what it found; an error is the finding.
    Task<> step(std::string what, Task<std::string> body) {
        Finding finding{.what = std::move(what), .good = true, .detail = {}};
        try {
            finding.detail = co_await std::move(body);
        } catch (const Error& error) {
            if (error.code() == Errc::canceled) throw;
            finding.good = false;
            finding.detail = error.message();
        }
        add(std::move(finding));
    }
    [[nodiscard]] int conclude() const {
        const bool good = std::ranges::all_of(all_, &Finding::good);
        if (context_.json) {
            boost::json::array shown;
            for (const Finding& each : all_) {
                shown.push_back({{"what", each.what}, {"good", each.good}, {"detail", each.detail}});
            }
            print(
                boost::json::serialize(boost::json::object{{"good", good}, {"findings", std::move(shown)}}) +
                "\n");
        }
        return good ? 0 : kFailed;
    }

private:
    const Context& context_;
    std::vector<Finding> all_;
};

Task<std::string> find_server(Context& context, boost::json::value& info) {
    info = co_await context.client.get("/v1/info");
    co_return "oyat " + text(info, "version") + " at " + context.client.settings().url;
}

Task<std::string> find_engine(const boost::json::value& info) {
    std::string reasons;
    for (const boost::json::value& engine : list(info, "engines")) {
        if (flag(engine, "available")) co_return text(engine, "name") + ", " + text(engine, "boundary");
        reasons += " " + text(engine, "name") + ": " + text(engine, "reason");
    }
    throw Error{Errc::unavailable, Fault::engine, "none is available:" + reasons};
}

// Limits that the kernel does not hold by itself are nothing wrong, but should be known.
Task<std::string> find_soft_limits(const boost::json::value& info) {
    std::string soft;
    for (const boost::json::value& limit : list(info, "limits")) {
        if (!flag(limit, "hard"))
            soft += (soft.empty() ? "" : "; ") + text(limit, "name") + ": " + text(limit, "mechanism");
    }
    co_return soft.empty() ? "all are hard" : "not hard: " + soft;
}

Task<std::string> find_base(Context& context) {
    const boost::json::value answer = co_await context.client.get("/v1/templates");
    for (const boost::json::value& facts : list(answer, "templates")) {
        if (text(facts, "name") == "base")
            co_return show_bytes(static_cast<std::uint64_t>(number(facts, "bytes")));
    }
    throw Error{Errc::not_found, Fault::image, "there is no template 'base'; 'oyat up' makes it"};
}

Task<std::string> make_one(Context& context, std::string& id) {
    const MonoTime began = SystemClock{}.mono();
    id = text(co_await make_sandbox(context, {.timeout = Millis{60'000}}), "id");
    co_await context.client.upload(
        "PUT", "/v1/sandboxes/" + id + "/files?path=/tmp/doctor",
        [done = false]() mutable { return std::exchange(done, true) ? "" : "well\n"; });
    std::string back;
    co_await context.client.download("/v1/sandboxes/" + id + "/files?path=/tmp/doctor",
                                     [&](std::string_view bytes) { back += bytes; });
    if (back != "well\n") throw Error{Errc::internal, Fault::agent, "a file came back changed"};
    co_return "made, and a file went in and out, in " +
        show_duration(std::chrono::duration_cast<Millis>(SystemClock{}.mono() - began));
}

Task<std::string> end_it(Context& context, std::string id) {
    co_await context.client.remove("/v1/sandboxes/" + id);
    co_return std::string{};
}

}  // namespace

Task<int> doctor(Context& context) {
    Findings findings{context};
    boost::json::value info;
    co_await findings.step("the server answers", find_server(context, info));
    if (info.is_null()) co_return findings.conclude();
    co_await findings.step("an engine is available", find_engine(info));
    co_await findings.step("limits", find_soft_limits(info));
    co_await findings.step("the template base is there", find_base(context));
    std::string id;
    co_await findings.step("a sandbox works", make_one(context, id));
    if (!id.empty()) co_await findings.step("it ends", end_it(context, id));
    co_return findings.conclude();
}

}  // namespace oyat::cli
