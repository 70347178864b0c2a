#include "http/client.hpp"

#include <netdb.h>

#include <array>
#include <memory>
#include <utility>

#include "base/throwing.hpp"
#include "http/body_reader.hpp"
#include "http/grammar.hpp"
#include "http/message_reader.hpp"
#include "http/prefixed_stream.hpp"
#include "http/serialize.hpp"
#include "http/tls.hpp"
#include "io/connect.hpp"
#include "io/worker_pool.hpp"

namespace oyat::http {
namespace {

constexpr Millis kConnectLimit{10'000};

// A method that means something even with an empty body says so.
bool usually_has_body(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

struct ClientConnection::Impl {
    std::unique_ptr<Stream> stream;
    ByteBuffer input;
    BodyReader answer;
    std::string method;
    bool chunked = false;
    bool usable = true;

    Task<> skip_answer() {
        std::array<char, 16384> unused;
        while (!answer.done()) (void)co_await answer.read(*stream, input, unused);
    }
};

ClientConnection::ClientConnection(std::unique_ptr<Stream> stream) : impl_{std::make_unique<Impl>()} {
    impl_->stream = std::move(stream);
}

ClientConnection::~ClientConnection() = default;

Task<ResponseHead> ClientConnection::send(ClientRequest request) {
    const std::size_t length = request.body.size();
    co_await begin(std::move(request), length);
    co_return co_await end();
}

Task<> ClientConnection::begin(ClientRequest request, std::optional<std::uint64_t> length) {
    co_await impl_->skip_answer();
    if (!impl_->usable)
        throw Error{Errc::unavailable, "the server ended the connection after its last answer"};
    impl_->method = request.method;
    impl_->chunked = !length;
    std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : request.fields) append_field(head, name, value);
    if (!length) {
        head.append("Transfer-Encoding: chunked\r\n");
    } else if (*length > 0 || usually_has_body(request.method)) {
        append_field(head, "Content-Length", std::to_string(*length));
    }
    head.append("\r\n");
    if (impl_->chunked) {
        co_await impl_->stream->write_all(head);
        co_await write_body(request.body);
    } else {
        const std::array<std::string_view, 2> parts{head, request.body};
        co_await impl_->stream->write_parts(parts);
    }
}

Task<> ClientConnection::write_body(std::string_view bytes) {
    if (bytes.empty()) co_return;
    if (!impl_->chunked) co_return co_await impl_->stream->write_all(bytes);
    const std::string size = chunk_head(bytes.size());
    const std::array<std::string_view, 3> parts{size, bytes, "\r\n"};
    co_await impl_->stream->write_parts(parts);
}

Task<ResponseHead> ClientConnection::end() {
    if (impl_->chunked) co_await impl_->stream->write_all("0\r\n\r\n");
    ParsedResponse response = co_await read_response_head(*impl_->stream, impl_->input, impl_->method);
    impl_->answer = BodyReader{response.body, response.head.content_length};
    impl_->usable = response.keep_alive;
    co_return std::move(response.head);
}

Task<std::size_t> ClientConnection::read_body(std::span<char> into) {
    return impl_->answer.read(*impl_->stream, impl_->input, into);
}

Task<std::string> ClientConnection::read_whole_body(std::size_t limit) {
    std::string body;
    auto buffer = std::make_unique<std::array<char, 65536>>();
    while (const std::size_t got = co_await read_body(*buffer)) {
        if (got > limit - body.size()) throw Error{Errc::exhausted, "the answer is too long"};
        body.append(buffer->data(), got);
    }
    co_return body;
}

std::unique_ptr<Stream> ClientConnection::release() {
    return with_prefix(std::exchange(impl_->input, {}), std::move(impl_->stream));
}

namespace {

struct Target {
    bool tls = false;
    std::string host;
    int port = 0;
};

Target parse_url(const std::string& url) {
    const auto refused = [] { return Error{Errc::invalid_argument, "not an http, https or unix URL"}; };
    Target target;
    std::string_view rest = url;
    if (rest.starts_with("https://")) {
        target.tls = true;
        rest.remove_prefix(8);
    } else if (rest.starts_with("http://")) {
        rest.remove_prefix(7);
    } else {
        throw refused();
    }
    const auto authority = parse_host(rest.substr(0, rest.find_first_of("/?#")));
    if (!authority) throw refused();
    target.host = authority->host;
    if (target.host.starts_with('[')) target.host = target.host.substr(1, target.host.size() - 2);
    target.port = authority->port != 0 ? authority->port : target.tls ? 443 : 80;
    return target;
}

// Blocks: to be called on a worker.
std::vector<SocketAddress> resolve(const Target& target) {
    const addrinfo hints{.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    addrinfo* list = nullptr;
    const int result = ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list);
    if (result != 0) throw Error{Errc::unavailable, "look up " + target.host + ": " + ::gai_strerror(result)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, ::freeaddrinfo};
    std::vector<SocketAddress> addresses;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
        addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
    }
    return addresses;
}

Task<Fd> connect_any(const Target& target) {
    std::vector<SocketAddress> addresses;
    if (auto numeric = SocketAddress::ip(target.host, static_cast<std::uint16_t>(target.port))) {
        addresses.push_back(*numeric);
    } else {
        WorkerPool pool{1};
        addresses = co_await on_worker(pool, [&target] { return resolve(target); });
    }
    std::optional<Error> failure;
    for (const SocketAddress& address : addresses) {
        try {
            co_return co_await connect(address, kConnectLimit);
        } catch (const Error& e) {
            if (e.code() != Errc::unavailable && e.code() != Errc::deadline) throw;
            failure = e;
        }
    }
    throw Error{failure.value_or(Error{Errc::unavailable, target.host + " has no address"})};
}

}  // namespace

Task<std::unique_ptr<Stream>> connect_to(Executor executor, const std::string& url) {
    if (url.starts_with("unix:")) {
        const SocketAddress address = or_throw(SocketAddress::unix_path(std::string_view{url}.substr(5)));
        co_return make_stream(executor, co_await connect(address, kConnectLimit));
    }
    const Target target = parse_url(url);
    std::unique_ptr<Stream> stream = make_stream(executor, co_await connect_any(target));
    if (!target.tls) co_return stream;
    TlsContext context = TlsContext::client();
    co_return co_await tls_connect(context, std::move(stream), target.host);
}

}  // namespace oyat::http
