#include "api/e2b/front.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "api/e2b/destination.hpp"
#include "api/e2b/signature.hpp"
#include "core/test_house.hpp"
#include "rpc/envelope.hpp"
#include "rpc/fake_exchange.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

using namespace std::string_literals;
using rpc::FakeExchange;

constexpr const char* kKey = "e2b_00000000000000000000000000000000000000aa";
constexpr const char* kLooker = "e2b_00000000000000000000000000000000000000bb";
constexpr const char* kStranger = "e2b_00000000000000000000000000000000000000cc";

// The front before a real core whose keeper and agents are played.
class Front : public testing::Test {
public:
    Front() { loop.run(add_keys()); }
    ~Front() override {
        loop.run(front.close());
        loop.run(house.sandboxes->close());
    }

    Task<> add_keys() {
        co_await keys.ensure(kKey, "runner", "default", static_cast<std::uint8_t>(core::Scope::run));
        co_await keys.ensure(kLooker, "looker", "default", static_cast<std::uint8_t>(core::Scope::read));
        co_await keys.ensure(kStranger, "stranger", "other", static_cast<std::uint8_t>(core::Scope::admin));
    }

    // A request with these fields; what was answered stays in `exchange`.
    int send(std::string method, std::string target, http::Fields fields = {}, std::string body = {}) {
        exchange = std::make_unique<FakeExchange>(loop.executor());
        exchange->head.method = std::move(method);
        exchange->head.target = target;
        exchange->head.path = std::string{path_of(target)};
        exchange->head.query = std::string{query_of(target)};
        exchange->head.fields = std::move(fields);
        exchange->head.peer = "192.0.2.1";
        exchange->body = std::move(body);
        exchange->piece = piece;
        loop.run(front.handle(*exchange));
        return exchange->status;
    }
    int call(std::string method, std::string target, std::string body = {}, const char* key = kKey) {
        return send(std::move(method), std::move(target), {{"X-API-KEY", key}}, std::move(body));
    }
    boost::json::object answer() { return or_throw(rpc::parse_object(exchange->answer)); }
    std::string word(std::string_view name) { return std::string{answer().at(name).get_string()}; }

    std::string create(std::string body = R"({"templateID":"base"})") {
        EXPECT_EQ(call("POST", "/v2/sandboxes", std::move(body)), 201) << exchange->answer;
        token = word("envdAccessToken");
        return word("sandboxID");
    }
    int at_agent(const std::string& id, std::string method, std::string target, std::string body = {},
                 http::Fields fields = {}) {
        fields.set("E2b-Sandbox-Id", id);
        fields.set("E2b-Sandbox-Port", "49983");
        if (!fields.has("X-Access-Token")) fields.set("X-Access-Token", token);
        return send(std::move(method), std::move(target), std::move(fields), std::move(body));
    }
    int unary(const std::string& id, std::string method, std::string body) {
        return at_agent(id, "POST", std::move(method), std::move(body),
                        {{"Content-Type", "application/json"}});
    }

    Loop loop;
    core::House house{loop.executor()};
    auth::Keys keys{house.clock, house.store};
    E2bFront front{{*house.sandboxes, *house.sandboxes, *house.templates, *house.bus, keys, house.clock, {}}};
    std::unique_ptr<FakeExchange> exchange;
    std::string token;
    std::size_t piece = 7;  // of a body, in one read
};

std::string filled(std::string path) {
    while (path.find('{') != std::string::npos) {
        path.replace(path.find('{'), path.find('}') - path.find('{') + 1, "i00000000000000000000");
    }
    return path;
}

TEST_F(Front, EveryRouteButHealthWantsAKey) {  // threats C-01
    for (const std::string& route : front.routes()) {
        house.clock.pass(std::chrono::minutes{2});  // or the failures would be refused unread
        const std::size_t blank = route.find(' ');
        const std::string method = route.substr(0, blank);
        const std::string path = filled(route.substr(blank + 1));
        if (path == "/health") continue;
        EXPECT_EQ(send(method, path), 401) << route;
        EXPECT_EQ(answer().at("code"), 401) << route;
        EXPECT_EQ(call(method, path, {}, "e2b_ffffffffffffffffffffffffffffffffffffffff"), 401) << route;
    }
    EXPECT_EQ(send("GET", "/health"), 204);
}

TEST_F(Front, AKeyThatMayOnlyLookChangesNothing) {
    for (const std::string& route : front.routes()) {
        const std::size_t blank = route.find(' ');
        const std::string method = route.substr(0, blank);
        const std::string path = filled(route.substr(blank + 1));
        const int status = call(method, path, {}, kLooker);
        if (method != "GET") EXPECT_EQ(status, 403) << route;
        if (method == "GET" && status == 403) {
            EXPECT_NE(path.find("/templates/"), std::string::npos) << route;
        }
    }
}

TEST_F(Front, AForeignSandboxIsAnUnknownOne) {
    const std::string id = create();
    for (const auto& [method, path] : std::initializer_list<std::pair<std::string, std::string>>{
             {"GET", "/sandboxes/" + id},
             {"DELETE", "/sandboxes/" + id},
             {"POST", "/sandboxes/" + id + "/pause"},
             {"POST", "/v2/sandboxes/" + id + "/connect"},
             {"POST", "/sandboxes/" + id + "/refreshes"},
             {"GET", "/sandboxes/" + id + "/metrics"},
             {"GET", "/v2/sandboxes/" + id + "/logs"}}) {
        EXPECT_EQ(call(method, path, {}, kStranger), 404) << path;
        EXPECT_EQ(answer().at("code"), 404) << path;
    }
    EXPECT_EQ(call("GET", "/v2/sandboxes", {}, kStranger), 200);
    EXPECT_EQ(exchange->answer, "[]");
}

TEST_F(Front, IdsThatAreNoneAreNotFound) {  // threats C-03
    for (const std::string& id :
         {"i0"s, "I0000000000000000000A"s, "..%2f.."s, "%00"s, "%C3%A9"s, std::string(10'240, 'i')}) {
        const int status = call("GET", "/sandboxes/" + id);
        EXPECT_TRUE(status == 404 || status == 400) << id.substr(0, 30) << status;
        EXPECT_LT(exchange->answer.size(), 300u);
    }
}

TEST_F(Front, AnIdMayCarryTheSuffixOfOlderClients) {
    const std::string id = create();
    EXPECT_EQ(call("GET", "/sandboxes/" + id + "-6532622b"), 200);
}

TEST_F(Front, CreateAnswersWhatConnectingNeeds) {
    const std::string id = create(R"({"templateID":"base","metadata":{"a":"b"},"timeout":60})");
    EXPECT_EQ(answer().at("templateID"), "base");
    EXPECT_FALSE(answer().contains("domain"));
    EXPECT_EQ(call("GET", "/sandboxes/" + id), 200);
    EXPECT_EQ(answer().at("state"), "running");
    EXPECT_EQ(answer().at("metadata").at("a"), "b");
    EXPECT_EQ(word("envdAccessToken"), token);
    EXPECT_EQ(call("GET", "/sandboxes/" + id, {}, kLooker), 200);
    EXPECT_FALSE(answer().contains("envdAccessToken"));
    EXPECT_EQ(exchange->answer.find(token), std::string::npos);
}

TEST_F(Front, ACreateThatIsSentAgainMakesNoSecondSandbox) {
    const http::Fields fields{{"X-API-KEY", kKey}, {"Idempotency-Key", "try-1"}};
    EXPECT_EQ(send("POST", "/v2/sandboxes", fields, R"({"templateID":"base"})"), 201);
    const std::string id = word("sandboxID");
    EXPECT_EQ(send("POST", "/v2/sandboxes", fields, R"({"templateID":"base"})"), 201);
    EXPECT_EQ(word("sandboxID"), id);
    EXPECT_EQ(house.keeper.boxes.size(), 1u);
    EXPECT_EQ(call("DELETE", "/sandboxes/" + id), 204);
    EXPECT_EQ(send("POST", "/v2/sandboxes", fields, R"({"templateID":"base"})"), 404);
}

TEST_F(Front, ARefusalNamesItsFaultAndTheEventBehindIt) {
    EXPECT_EQ(call("POST", "/v2/sandboxes", R"({"templateID":"base","volumeMounts":[{}]})"), 400);
    EXPECT_EQ(answer().at("fault"), "client");
    const core::Event* event = house.log.last("request.refused");
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(word("event"), event->id);
    EXPECT_EQ(event->fields.at("route"), "/v2/sandboxes");
}

TEST_F(Front, WhatComesLaterSaysSo) {
    const std::string id = create();
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/clone"), 501);
    EXPECT_EQ(call("POST", "/v3/templates", "{}"), 501);
    EXPECT_EQ(call("GET", "/volumes"), 501);
    EXPECT_NE(exchange->answer.find("not available in this release"), std::string::npos);
    EXPECT_EQ(call("POST", "/templates", "{}"), 410);
}

TEST_F(Front, ForksAndCopiesAreMadeListedAndDeleted) {
    const std::string id = create();
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/fork", R"({"count":2})"), 201);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/fork", R"({"count":101})"), 400);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/snapshots", "{}"), 201);
    const std::string snapshot = word("snapshotID");
    EXPECT_EQ(call("GET", "/snapshots"), 200);
    EXPECT_NE(exchange->answer.find(snapshot), std::string::npos);
    EXPECT_EQ(call("DELETE", "/templates/" + snapshot), 204);
    EXPECT_EQ(call("DELETE", "/templates/" + snapshot), 404);
}

TEST_F(Front, APauseWithoutMemoryIsAPause) {
    const std::string id = create();
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/pause", R"({"memory":false})"), 204);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/pause", R"({"memory":false})"), 409);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/connect", "{}"), 201);
}

TEST_F(Front, PausingTwiceIsAConflictAndConnectWakes) {
    const std::string id = create();
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/pause", "{}"), 204);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/pause"), 409);
    EXPECT_EQ(answer().at("code"), 409);
    EXPECT_EQ(at_agent(id, "GET", "/health"), 502);
    EXPECT_EQ(call("POST", "/v2/sandboxes/" + id + "/connect", "{}"), 201);
    EXPECT_EQ(word("envdAccessToken"), token);
    EXPECT_EQ(call("POST", "/v2/sandboxes/" + id + "/connect"), 200);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/resume"), 409);
    EXPECT_EQ(at_agent(id, "GET", "/health"), 204);
}

TEST_F(Front, AnEndedSandboxSaysHowItEnded) {
    const std::string id = create();
    EXPECT_EQ(call("DELETE", "/sandboxes/" + id), 204);
    EXPECT_EQ(call("DELETE", "/sandboxes/" + id), 404);
    EXPECT_EQ(call("GET", "/sandboxes/" + id), 404);
    EXPECT_NE(exchange->answer.find("killed"), std::string::npos);
    EXPECT_EQ(at_agent(id, "GET", "/health"), 502);
    EXPECT_EQ(exchange->answer,
              R"({"sandboxId":")" + id + R"(","message":"The sandbox was not found","code":502})");
}

TEST_F(Front, ABrowserIsToldByAPage) {
    send("GET", "/",
         {{"E2b-Sandbox-Id", "i00000000000000000000"},
          {"E2b-Sandbox-Port", "80"},
          {"User-Agent", "Mozilla/5.0"},
          {"Accept", "text/html,*/*"}});
    EXPECT_EQ(exchange->status, 502);
    EXPECT_TRUE(exchange->answer.starts_with("<!doctype html>"));
}

TEST_F(Front, PortsThatAreNotTheSandboxesAreClosed) {  // threats C-08
    const std::string id = create();
    for (const char* port : {"65501", "65502"}) {
        EXPECT_EQ(send("GET", "/", {{"E2b-Sandbox-Id", id}, {"E2b-Sandbox-Port", port}}), 502) << port;
        EXPECT_NE(exchange->answer.find("The sandbox is running but port is not open"), std::string::npos);
    }
    for (const char* port : {"0", "65536"}) {
        EXPECT_EQ(send("GET", "/", {{"E2b-Sandbox-Id", id}, {"E2b-Sandbox-Port", port}}), 400) << port;
    }
}

TEST_F(Front, AKeyOfTheServerStaysOutsideOfSandboxes) {
    const std::string id = create();
    // Of the operator's own making, so not to be told by its form.
    const std::string own = "a-key-of-the-operators-own-making";
    loop.run(keys.ensure(own, "operator", "default", static_cast<std::uint8_t>(core::Scope::admin)));
    for (const auto& [name, value] : {std::pair{"X-API-KEY", std::string{kKey}}, std::pair{"X-API-KEY", own},
                                      std::pair{"Authorization", "Bearer " + std::string{kKey}},
                                      std::pair{"Authorization", "Bearer " + own}}) {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        house.keeper.listening = Fd{ends[0]};
        const Fd server{ends[1]};
        constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        ASSERT_EQ(::send(server.get(), kAnswer.data(), kAnswer.size(), 0), ssize_t{kAnswer.size()});
        const http::Fields fields{{"E2b-Sandbox-Id", id},
                                  {"E2b-Sandbox-Port", "80"},
                                  {name, "theirs"},
                                  {name, value},
                                  {"X-Theirs", "kept"}};
        EXPECT_EQ(send("GET", "/", fields), 200);
        std::string seen(4096, '\0');
        seen.resize(static_cast<std::size_t>(
            std::max<ssize_t>(::recv(server.get(), seen.data(), seen.size(), MSG_DONTWAIT), 0)));
        EXPECT_NE(seen.find("X-Theirs: kept"), std::string::npos) << seen;
        EXPECT_EQ(seen.find(value), std::string::npos) << seen;
    }
}

// Or whoever reads a sandbox's log would not see what was tried on it.
TEST_F(Front, ARefusalStandsWithItsSandboxForWhomItBelongsTo) {
    const std::string id = create();
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "-client/timeout", R"({"timeout":-1})"), 400);
    EXPECT_EQ(house.log.last("request.refused")->sandbox, id);
    EXPECT_EQ(call("POST", "/sandboxes/" + id + "/timeout", R"({"timeout":-1})", kStranger), 400);
    EXPECT_EQ(house.log.last("request.refused")->sandbox, "");
}

TEST_F(Front, TheAgentsDoorWantsTheSandboxesOwnToken) {
    const std::string id = create();
    const std::string mine = token;
    const std::string other = create();
    EXPECT_EQ(at_agent(id, "GET", "/envs", {}, {{"X-Access-Token", mine}}), 200);
    EXPECT_EQ(at_agent(id, "GET", "/envs", {}, {{"X-Access-Token", token}}), 401);  // the other one's
    EXPECT_EQ(at_agent(id, "GET", "/envs", {}, {{"X-Access-Token", kKey}}), 401);
    EXPECT_EQ(at_agent(id, "GET", "/envs", {}, {{"X-Access-Token", mine}, {"X-Access-Token", "x"}}), 401);
    EXPECT_EQ(at_agent(id, "GET", "/health", {}, {{"X-Access-Token", "wrong"}}), 204);
    EXPECT_EQ(at_agent(id, "POST", "/process.Process/List", "{}", {{"X-Access-Token", ""}}), 401);
    EXPECT_EQ(at_agent(id, "POST", "/init", "{}"), 404);
    EXPECT_EQ(at_agent(id, "DELETE", "/files"), 405);
    EXPECT_EQ(call("GET", "/sandboxes/" + other, {}, mine.c_str()), 401);  // no key of the control plane
}

TEST_F(Front, AnOpenSandboxAsksForNothing) {
    EXPECT_EQ(call("POST", "/sandboxes", R"({"templateID":"base","secure":false})"), 201);
    EXPECT_FALSE(answer().contains("envdAccessToken"));
    const std::string id = word("sandboxID");
    EXPECT_EQ(at_agent(id, "GET", "/envs", {}, {{"X-Access-Token", ""}}), 200);
}

TEST_F(Front, ProgramsAreToldWhereTheyRunAndCannotBeToldOtherwise) {
    const std::string id = create(R"({"templateID":"base","envVars":{"A":"1"}})");
    EXPECT_EQ(at_agent(id, "GET", "/envs"), 200);
    EXPECT_EQ(word("E2B_SANDBOX_ID"), id);
    EXPECT_EQ(answer().at("A"), "1");
}

TEST_F(Front, ASignedLinkNeedsNoSandboxInTheRequest) {
    const std::string id = create();
    house.keeper.inside(id).files["/a b"] = "content";
    (void)create();  // another one, whose token does not fit
    token.clear();
    SignedLink link{"/a b", "read", "", "", std::nullopt};
    link.signature = sign(link, house.sandboxes->find_any(id)->record().access_token);
    const std::string query = "path=%2Fa%20b&signature=" + http::percent_encode(link.signature);
    EXPECT_EQ(send("GET", "/files?" + query), 200) << exchange->answer;
    EXPECT_EQ(exchange->answer, "content");
    EXPECT_EQ(send("GET", "/files?path=%2Fa%20c&signature=" + http::percent_encode(link.signature)), 401);
    EXPECT_EQ(send("POST", "/files?" + query), 401);
    EXPECT_EQ(send("GET", "/files?path=%2Fa%20b"), 400);

    link.expiry = "1000";
    link.signature = sign(link, house.sandboxes->find_any(id)->record().access_token);
    EXPECT_EQ(send("GET", "/files?path=%2Fa%20b&signature_expiration=1000&signature=" +
                              http::percent_encode(link.signature)),
              401);
    EXPECT_EQ(exchange->answer, R"({"code":401,"message":"signature is already expired"})");

    EXPECT_EQ(call("DELETE", "/sandboxes/" + id), 204);
    EXPECT_EQ(send("GET", "/files?" + query), 401);
}

TEST_F(Front, GuessingSignaturesIsSlowed) {
    (void)create();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(send("GET", "/files?path=a&signature=v1_x"), 401);
    EXPECT_EQ(send("GET", "/files?path=a&signature=v1_x"), 429);
    house.clock.pass(std::chrono::minutes{2});
    EXPECT_EQ(send("GET", "/files?path=a&signature=v1_x"), 401);
}

TEST_F(Front, FilesGoInAndOut) {
    const std::string id = create();
    EXPECT_EQ(
        at_agent(id, "POST", "/files?path=%2Fx", "content", {{"Content-Type", "application/octet-stream"}}),
        200);
    EXPECT_EQ(exchange->answer, R"([{"name":"x","path":"/x","type":"file"}])");
    EXPECT_EQ(at_agent(id, "GET", "/files?path=%2Fx"), 200);
    EXPECT_EQ(exchange->answer, "content");
    EXPECT_EQ(at_agent(id, "GET", "/files?path=%2Fmissing"), 404);
    EXPECT_EQ(at_agent(id, "GET", "/files?path=a%00b"), 400);
    EXPECT_EQ(at_agent(id, "POST", "/files", "content", {{"Content-Type", "application/octet-stream"}}), 400);
    EXPECT_EQ(at_agent(id, "POST", "/files?path=x", "content", {{"Content-Type", "text/plain"}}), 400);
    EXPECT_EQ(at_agent(id, "POST", "/files?path=x", "plain",
                       {{"Content-Type", "application/octet-stream"}, {"Content-Encoding", "gzip"}}),
              400);
}

TEST_F(Front, SeveralFilesComeInOneForm) {
    const std::string id = create();
    const std::string form =
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/a\"\r\n\r\none\r\n"
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/b\"\r\n\r\ntwo\r\n--X--";
    const http::Fields type{{"Content-Type", "multipart/form-data; boundary=X"}};
    EXPECT_EQ(at_agent(id, "POST", "/files", form, type), 200) << exchange->answer;
    EXPECT_EQ(house.keeper.inside(id).files["/a"], "one");
    EXPECT_EQ(house.keeper.inside(id).files["/b"], "two");
    EXPECT_EQ(at_agent(id, "POST", "/files?path=%2Fc", form, type), 400);  // one path for two files
}

TEST_F(Front, AFullDiskIsNotEnoughSpace) {
    const std::string id = create();
    piece = 100;
    EXPECT_EQ(
        at_agent(id, "POST", "/files?path=%2Fx", "too much", {{"Content-Type", "application/octet-stream"}}),
        507);
}

TEST_F(Front, AProcessIsListedFedAndKilled) {
    const std::string id = create();
    std::shared_ptr<core::Process> process;
    loop.run([](Front& t, const std::string& box, std::shared_ptr<core::Process>& out) -> Task<> {
        out = co_await t.house.start(*t.house.sandboxes->find_any(box));
    }(*this, id, process));
    EXPECT_EQ(unary(id, "/process.Process/List", "{}"), 200);
    EXPECT_EQ(exchange->answer,
              R"({"processes":[{"config":{"cmd":"prog","args":["arg"],"envs":{}},"pid":2}]})");
    EXPECT_EQ(unary(id, "/process.Process/SendInput", R"({"process":{"pid":2},"input":{"pty":"aGk="}})"),
              500);
    EXPECT_EQ(unary(id, "/process.Process/SendSignal", R"({"process":{"pid":2},"signal":"SIGNAL_SIGKILL"})"),
              200);
    EXPECT_EQ(house.keeper.inside(id).program(2).signals, std::vector<int>{9});
    EXPECT_EQ(unary(id, "/process.Process/SendSignal", R"({"process":{"pid":7},"signal":"SIGNAL_SIGKILL"})"),
              404);
    EXPECT_NE(exchange->answer.find("process with pid 7 not found"), std::string::npos);
    house.keeper.inside(id).program(2).exit(0, 9);
    loop.run(core::House::turns());
    EXPECT_EQ(unary(id, "/process.Process/SendSignal", R"({"process":{"pid":2},"signal":"SIGNAL_SIGKILL"})"),
              404);
}

}  // namespace
}  // namespace oyat::e2b
