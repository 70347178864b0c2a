#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/keeper_door.hpp"
#include "http/url.hpp"
#include "io/timer.hpp"

// The operator's brakes. The server pulls them; where it does not answer, root asks the keeper of this
// machine.
namespace oyat::cli {
namespace {

constexpr Millis kServerLimit{5000};
constexpr const char* kUsualState = "/var/lib/oyat";

boost::json::array texts(const std::vector<std::string>& words) {
    return boost::json::array(words.begin(), words.end());
}

boost::json::object aim_json(const Aim& aim) {
    boost::json::object body;
    if (aim.all) body["all"] = true;
    if (!aim.ids.empty()) body["sandboxes"] = texts(aim.ids);
    if (!aim.key.empty()) body["key"] = aim.key;
    if (!aim.label.empty()) body["label"] = aim.label;
    return body;
}

bool is_of_this_machine(const std::string& url) {
    return url.contains("://127.") || url.contains("://localhost") || url.contains("://[::1]");
}

// Whether it may be the keeper's turn: the one that was named, or that of the server that does not answer.
bool may_ask_keeper(const Context& context, const Aim& aim) {
    if (!aim.key.empty() || !aim.label.empty()) return false;  // the keeper knows neither
    return is_of_this_machine(context.client.settings().url) && KeeperDoor{kUsualState}.is_there();
}

void show_json(const boost::json::value& value) {
    print(boost::json::serialize(value) + "\n");
}

// The same answer as the server's.
boost::json::value ask_keeper(const std::string& state, const std::vector<wire::Brake>& brakes,
                              const Aim& aim) {
    const KeeperDoor door{state};
    boost::json::object shown;
    for (const wire::Brake brake : brakes) {
        const wire::KeeperReply reply =
            door.ask({.brake = wire::PullBrake{.brake = brake, .all = aim.all, .ids = aim.ids}});
        const wire::BrakeFacts facts = reply.brakes.value_or(wire::BrakeFacts{});
        if (brake == wire::Brake::hold) {
            shown["held"] = facts.held;
            shown["moving"] = texts(facts.moving);
        }
        shown["stopped"] = facts.stopped;
        shown["egress_off"] = facts.egress_off;
    }
    return shown;
}

Task<> ask_server(Context& context, std::string path, boost::json::object body, boost::json::value& answer) {
    answer = co_await context.client.post(std::move(path), std::move(body));
}

// By the keeper that --state names, or else by the server; past a server that is not there, by the keeper of
// the installed one.
Task<boost::json::value> pull(Context& context, std::string path, std::vector<wire::Brake> brakes, Aim aim) {
    if (!aim.state.empty()) co_return ask_keeper(aim.state, brakes, aim);
    std::optional<Failure> silent;
    boost::json::value answer;
    try {
        co_await with_timeout(kServerLimit, "the server", ask_server(context, path, aim_json(aim), answer));
        co_return answer;
    } catch (const Failure& failure) {
        if (failure.code() != Errc::unavailable || !may_ask_keeper(context, aim)) throw;
        silent = failure;
    } catch (const Error& error) {
        if (error.code() != Errc::deadline || !may_ask_keeper(context, aim)) throw;
        silent = Failure{error, ""};
    }
    print_to(STDERR_FILENO, "oyat: " + silent->message() + "; asking the keeper of " + kUsualState + "\n");
    co_return ask_keeper(kUsualState, brakes, aim);
}

// What did not stand still, if anything: it was told to, and will.
void warn_of_moving(const boost::json::value& answer) {
    for (const boost::json::value& id : list(answer, "moving")) {
        print_to(STDERR_FILENO, "oyat: " + std::string{id.as_string()} +
                                    " does not stand still yet: a process of it waits for the machine\n");
    }
}

}  // namespace

Task<int> freeze(Context& context, Aim aim) {
    const boost::json::value answer = co_await pull(context, "/v1/brakes/hold", {wire::Brake::hold}, aim);
    warn_of_moving(answer);
    if (context.json) show_json(answer);
    co_return list(answer, "moving").empty() ? 0 : kFailed;
}

Task<int> thaw(Context& context, Aim aim) {
    const boost::json::value answer =
        co_await pull(context, "/v1/brakes/release", {wire::Brake::release}, aim);
    if (context.json) show_json(answer);
    co_return 0;
}

Task<int> stop(Context& context, Aim aim) {
    const boost::json::value answer =
        co_await pull(context, "/v1/brakes/stop", {wire::Brake::hold, wire::Brake::cut_egress}, aim);
    warn_of_moving(answer);
    if (context.json) {
        show_json(answer);
    } else {
        print(std::to_string(number(answer, "held")) + " held, connections cut" +
              (aim.key.empty() ? "" : ", key revoked") + (aim.all ? ", creates refused" : "") + "\n");
    }
    co_return list(answer, "moving").empty() ? 0 : kFailed;
}

Task<int> egress_off(Context& context, Aim aim) {
    if (aim.ids.empty()) aim.all = true;
    const boost::json::value answer =
        co_await pull(context, "/v1/brakes/egress-off", {wire::Brake::cut_egress}, aim);
    if (context.json) show_json(answer);
    co_return 0;
}

Task<int> egress_on(Context& context, Aim aim) {
    if (aim.ids.empty()) aim.all = true;
    const boost::json::value answer =
        co_await pull(context, "/v1/brakes/egress-on", {wire::Brake::open_egress}, aim);
    if (context.json) show_json(answer);
    co_return 0;
}

Task<int> egress_show(Context& context) {
    const boost::json::value answer = co_await context.client.get("/v1/brakes");
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    print(std::string{"egress   "} + (flag(answer, "egress_off") ? "off for all" : "as each policy says") +
          "\n" + "server   " +
          (flag(answer, "stopped") ? "stopped: all held, creates refused" : "makes sandboxes") + "\n");
    for (const boost::json::value& id : list(answer, "held"))
        print("held     " + std::string{id.as_string()} + "\n");
    for (const boost::json::value& id : list(answer, "without_egress"))
        print("cut off  " + std::string{id.as_string()} + "\n");
    co_return 0;
}

Task<int> put_down(Context& context, Aim aim) {
    for (const std::string& id : aim.ids) {
        if (!aim.state.empty()) {
            (void)KeeperDoor{aim.state}.ask({.kill = wire::KillBox{.id = id}});
        } else {
            co_await context.client.post("/v1/sandboxes/" + id + "/put-down", {});
        }
        if (!context.json) print(id + "\n");
    }
    if (context.json) show_json(boost::json::object{{"ended", texts(aim.ids)}});
    co_return 0;
}

}  // namespace oyat::cli
