#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <list>

#include "egress/host_certificates.hpp"
#include "egress/read_scene_for_tests.hpp"
#include "io/worker_pool.hpp"
#include "pki/pem.hpp"

// Programs as people run them, through a connection whose TLS is ended in the middle. They trust the tenant's
// authority by the variables that a sandbox sets.
namespace oyat::egress {
namespace {

using namespace testing;
using http::testing::has;

bool is_installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe{::popen((command + " 2>&1").c_str(), "re"),
                                                               ::pclose};
    std::string all;
    std::array<char, 4096> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
        all.append(buffer.data(), got);
    }
    return all;
}

// A port that programs connect to as if it were a.test's.
struct Door {
    explicit Door(ReadScene& of) : scene{of} {
        scene.tls =
            TlsReading{.identity = [this](const std::string& host) { return certificates.of("acme", host); },
                       .trust = &trust};
        const pki::Leaf leaf = world.issue({"a.test"}, std::chrono::hours{24});
        world_port = scene.world.listen_tls("127.0.0.1", 0, pki::to_pem(leaf.certificate.get()),
                                            pki::to_pem(leaf.key.get()));
        scene.connecting = [this] { return connect(loopback(world_port), kSoon); };
        scene.port = local_address(acceptor.native_fd()).port();
        std::ofstream{bundle} << authorities.of("acme").certificate_pem();
        accepting.spawn(accept_all());
    }
    ~Door() { std::filesystem::remove(bundle); }

    // To be awaited before the door is left.
    Task<> close() {
        co_await accepting.close();
        for (const auto& reader : readers) reader->cut();
        co_await scene.tasks.wait_idle();
    }

    Task<> accept_all() {
        for (;;) {
            Acceptor::Connection incoming = co_await acceptor.accept();
            readers.push_back(scene.reader_of(std::move(incoming.socket), "a.test"));
            scene.tasks.spawn(scene.run_reader(*readers.back()));
        }
    }

    // %PORT and %CA in the command stand for the door's port and the file of the authority.
    Task<std::string> run(std::string command) {
        const auto replace = [&](std::string_view word, const std::string& by) {
            for (auto at = command.find(word); at != command.npos; at = command.find(word, at + by.size())) {
                command.replace(at, word.size(), by);
            }
        };
        replace("%PORT", std::to_string(scene.port));
        replace("%CA", bundle);
        co_return co_await on_worker(pool, [&] { return output_of(command); });
    }

    ReadScene& scene;
    pki::Authority world = pki::Authority::make({.name = "the world's"});
    TenantAuthorities authorities{{}};
    HostCertificates certificates{authorities, scene.clock};
    http::TlsContext trust = http::TlsContext::client_trusting_also(world.certificate_pem());
    std::uint16_t world_port = 0;
    Acceptor acceptor{scene.executor, listen_tcp(loopback())};
    std::list<std::unique_ptr<Interception>> readers;
    std::string bundle =
        std::filesystem::temp_directory_path() / ("oyat-real-clients-" + std::to_string(::getpid()) + ".pem");
    WorkerPool pool{1};
    TaskGroup accepting{scene.executor};
};

constexpr const char* kCurl = "curl -sS -m 10 --resolve a.test:%PORT:127.0.0.1 ";

TEST(RealClients, CurlSpeaksHttp1AndHttp2) {
    in_scene([](ReadScene& scene) -> Task<> {
        Door door{scene};
        for (const std::string version : {"--http1.1", "--http2"}) {
            const std::string answer = co_await door.run(
                "CURL_CA_BUNDLE=%CA " + std::string{kCurl} + version +
                " -w '|%{http_version}' --data hello https://a.test:%PORT/x https://a.test:%PORT/y");
            EXPECT_TRUE(has(answer, "/x of a.test: hello|" + std::string{version == "--http2" ? "2" : "1.1"}))
                << version << answer;
            EXPECT_TRUE(has(answer, "/y of a.test: hello")) << version << answer;
        }
        scene.policy = only({allow("x", {"GET"}, {"/x"})});
        EXPECT_EQ(
            co_await door.run("CURL_CA_BUNDLE=%CA " + std::string{kCurl} + "--http2 https://a.test:%PORT/y"),
            "oyat: GET https://a.test:" + std::to_string(scene.port) +
                "/y denied by rule default (tenant), see denied report\n");
        co_await door.close();
    });
}

TEST(RealClients, OneThatDoesNotTrustTheAuthorityIsOnTheRecord) {
    in_scene([](ReadScene& scene) -> Task<> {
        Door door{scene};
        const std::string answer = co_await door.run(std::string{kCurl} + "https://a.test:%PORT/x");
        EXPECT_TRUE(has(answer, "certificate")) << answer;
        EXPECT_TRUE(scene.log.has("tls.client_rejected_ca", "a.test"));
        EXPECT_TRUE(scene.seen.empty());
        co_await door.close();
    });
}

TEST(RealClients, PythonFindsTheAuthorityByItsVariable) {
    in_scene([](ReadScene& scene) -> Task<> {
        Door door{scene};
        const std::string answer = co_await door.run(
            "SSL_CERT_FILE=%CA python3 -c 'import socket, urllib.request\n"
            "find = socket.getaddrinfo\n"
            "socket.getaddrinfo = lambda host, *rest, **more: find(\"127.0.0.1\", *rest, **more)\n"
            "print(urllib.request.urlopen(\"https://a.test:%PORT/x\", timeout=10).read())'");
        EXPECT_TRUE(has(answer, "b'/x of a.test'")) << answer;
        co_await door.close();
    });
}

TEST(RealClients, GitFindsTheAuthorityByItsVariable) {
    if (!is_installed("git")) GTEST_SKIP() << "git is not installed";
    in_scene([](ReadScene& scene) -> Task<> {
        Door door{scene};
        scene.policy = only({allow("read", {"GET"}, {"/r.git/info/refs"})});
        scene.handler = [](http::Exchange& exchange) {
            return exchange.respond(200, {{"Content-Type", "text/plain"}},
                                    std::string(40, 'a') + "\trefs/heads/main\n");
        };
        const std::string answer = co_await door.run(
            "GIT_SSL_CAINFO=%CA git -c http.curloptResolve=a.test:%PORT:127.0.0.1 "
            "ls-remote https://a.test:%PORT/r.git");
        EXPECT_TRUE(has(answer, "refs/heads/main")) << answer;
        co_await door.close();
    });
}

TEST(RealClients, NodeAddsTheAuthorityToItsOwn) {
    if (!is_installed("node")) GTEST_SKIP() << "node is not installed";
    in_scene([](ReadScene& scene) -> Task<> {
        Door door{scene};
        const std::string answer = co_await door.run(
            "NODE_EXTRA_CA_CERTS=%CA node -e 'require(\"dns\").lookup = (name, options, done) => "
            "options.all ? done(null, [{address: \"127.0.0.1\", family: 4}]) : done(null, \"127.0.0.1\", 4); "
            "fetch(\"https://a.test:%PORT/x\").then(async (r) => console.log(await r.text()))'");
        EXPECT_TRUE(has(answer, "/x of a.test")) << answer;
        co_await door.close();
    });
}

}  // namespace
}  // namespace oyat::egress
