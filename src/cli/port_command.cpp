#include <boost/asio/this_coro.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <vector>

#include "base/throwing.hpp"
#include "cli/commands.hpp"
#include "cli/interrupted.hpp"
#include "cli/json_read.hpp"
#include "http/url.hpp"
#include "io/acceptor.hpp"
#include "io/gate.hpp"
#include "io/listen.hpp"
#include "io/race.hpp"
#include "io/task_group.hpp"

// A port of this machine that leads to one inside.
namespace oyat::cli {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

struct Ends {
    int count = 0;
    Gate both;
};

Task<> carry(Stream& from, Stream& to, Ends& ends) {
    std::vector<char> piece(kPiece);
    while (const std::size_t n = co_await from.read_some(piece)) co_await to.write_all({piece.data(), n});
    to.shutdown_write();
    if (++ends.count == 2) ends.both.open();
    co_await ends.both.pass();
}

Task<> serve(Settings settings, std::string target, Fd socket) {
    const std::unique_ptr<Stream> here =
        make_stream(co_await boost::asio::this_coro::executor, std::move(socket));
    try {
        Client client{std::move(settings)};
        const std::unique_ptr<Stream> inside = co_await client.upgrade(std::move(target), "oyat-port");
        Ends ends;
        co_await race(carry(*here, *inside, ends), carry(*inside, *here, ends));
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        print_to(STDERR_FILENO, "oyat: " + printable(error.message()) + "\n");
    }
}

Task<> accept_all(Context& context, std::string target, Acceptor& acceptor, TaskGroup& connections) {
    for (;;) {
        Acceptor::Connection incoming = co_await acceptor.accept();
        connections.spawn(serve(context.client.settings(), target, std::move(incoming.socket)));
    }
}

std::string path_of(const std::string& id, std::uint16_t inside) {
    return "/v1/sandboxes/" + http::percent_encode(id) + "/ports/" + std::to_string(inside);
}

Task<> lead_here(Context& context, std::string id, std::uint16_t inside, std::uint16_t local) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    // Says at once when there is no such sandbox.
    co_await context.client.get("/v1/sandboxes/" + http::percent_encode(id));
    Acceptor acceptor{executor, listen_tcp(or_throw(SocketAddress::ip("127.0.0.1", local)))};
    const std::string address = local_address(acceptor.native_fd()).to_string();
    print(context.json
              ? "{\"listen\":\"" + address + "\"}\n"
              : address + " leads to port " + std::to_string(inside) + " of " + id + " (Ctrl-C ends)\n");
    TaskGroup connections{executor};
    co_await race(accept_all(context, path_of(id, inside), acceptor, connections), interrupted());
    co_await connections.close();
}

// Without a domain of its own, the sandbox is reached by a path of the server.
Task<> print_link(Context& context, std::string id, std::uint16_t inside, Millis life) {
    const boost::json::value link = co_await context.client.post(
        path_of(id, inside) + "/link", {{"ttl_ms", static_cast<std::uint64_t>(life.count())}});
    const std::string url = text(link, "url");
    print(context.json  ? boost::json::serialize(link) + "\n"
          : url.empty() ? context.client.settings().url + text(link, "path") + "\n"
                        : url + "\n");
}

}  // namespace

Task<int> port(Context& context, std::string id, Port options) {
    if (options.who.empty() && !options.link_life) {
        co_await lead_here(context, std::move(id), options.inside, options.local);
        co_return 0;
    }
    if (!options.who.empty()) {
        const boost::json::value shown =
            co_await context.client.put(path_of(id, options.inside), {{"who", options.who}});
        if (context.json && !options.link_life) print(boost::json::serialize(shown) + "\n");
    }
    if (options.link_life) co_await print_link(context, id, options.inside, *options.link_life);
    co_return 0;
}

}  // namespace oyat::cli
