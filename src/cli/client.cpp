#include "cli/client.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <vector>

#include "cli/failure.hpp"

namespace oyat::cli {
namespace {

constexpr std::size_t kMaxAnswer = 64 * 1024 * 1024;
constexpr std::size_t kMaxErrorBody = 64 * 1024;
constexpr std::size_t kMaxLine = 64 * 1024 * 1024;
constexpr std::size_t kPiece = 256 * 1024;

std::string host_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return "localhost";
    url.remove_prefix(scheme + 3);
    return std::string{url.substr(0, url.find('/'))};
}

}  // namespace

Task<boost::json::value> Client::get(std::string path) {
    co_await check(co_await send(request("GET", std::move(path))));
    co_return co_await read_json();
}

Task<boost::json::value> Client::post(std::string path, boost::json::object body) {
    co_await check(co_await send(request("POST", std::move(path), boost::json::serialize(body))));
    co_return co_await read_json();
}

Task<boost::json::value> Client::put(std::string path, boost::json::object body) {
    co_await check(co_await send(request("PUT", std::move(path), boost::json::serialize(body))));
    co_return co_await read_json();
}

Task<> Client::remove(std::string path) {
    co_await check(co_await send(request("DELETE", std::move(path))));
}

Task<> Client::lines(std::string path, std::function<void(std::string_view)> line) {
    co_await check(co_await send(request("GET", std::move(path))));
    std::vector<char> piece(kPiece);
    std::string pending;
    while (const std::size_t n = co_await connection_->read_body(piece)) {
        pending.append(piece.data(), n);
        std::size_t begin = 0;
        for (std::size_t end = pending.find('\n'); end != std::string::npos;
             end = pending.find('\n', begin)) {
            if (end > begin) line(std::string_view{pending}.substr(begin, end - begin));
            begin = end + 1;
        }
        pending.erase(0, begin);
        if (pending.size() > kMaxLine) throw Error{Errc::internal, "the server sent an endless line"};
    }
}

Task<boost::json::value> Client::upload(std::string method, std::string path,
                                        std::function<std::string()> next) {
    co_await connect();
    co_await connection_->begin(request(std::move(method), std::move(path)), std::nullopt);
    for (std::string bytes = next(); !bytes.empty(); bytes = next()) co_await connection_->write_body(bytes);
    co_await check(co_await connection_->end());
    co_return co_await read_json();
}

Task<> Client::download(std::string path, std::function<void(std::string_view)> bytes) {
    co_await check(co_await send(request("GET", std::move(path))));
    std::vector<char> piece(kPiece);
    while (const std::size_t n = co_await connection_->read_body(piece)) bytes({piece.data(), n});
}

Task<std::unique_ptr<Stream>> Client::upgrade(std::string path, std::string protocol) {
    http::ClientRequest ask = request("POST", std::move(path));
    ask.fields.add("Connection", "Upgrade");
    ask.fields.add("Upgrade", std::move(protocol));
    const http::ResponseHead head = co_await send(std::move(ask));
    if (head.status != 101) {
        co_await check(head);
        throw Failure{Error{Errc::internal, "the server did not switch protocols"}, "is a proxy in between?"};
    }
    std::unique_ptr<Stream> stream = connection_->release();
    connection_.reset();
    co_return stream;
}

Task<> Client::connect() {
    if (connection_) co_return;
    try {
        std::unique_ptr<Stream> stream =
            co_await http::connect_to(co_await boost::asio::this_coro::executor, settings_.url);
        connection_ = std::make_unique<http::ClientConnection>(std::move(stream));
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        throw Failure{Error{error.code(), Fault::oyat_operator,
                            "no server answers at " + settings_.url + ": " + error.message()},
                      "start it with 'oyat up', or say where it is with OYAT_URL"};
    }
}

http::ClientRequest Client::request(std::string method, std::string path, std::string body) const {
    http::ClientRequest request{
        .method = std::move(method), .target = std::move(path), .fields = {}, .body = std::move(body)};
    request.fields.add("Host", host_of(settings_.url));
    request.fields.add("User-Agent", "oyat-cli");
    if (!settings_.key.empty()) request.fields.add("X-API-Key", settings_.key);
    if (!request.body.empty()) request.fields.add("Content-Type", "application/json");
    return request;
}

Task<http::ResponseHead> Client::send(http::ClientRequest request) {
    co_await connect();
    co_return co_await connection_->send(std::move(request));
}

Task<> Client::check(const http::ResponseHead& head) {
    if (head.status < 400) co_return;
    throw Failure::from_answer(head.status, co_await connection_->read_whole_body(kMaxErrorBody));
}

Task<boost::json::value> Client::read_json() {
    const std::string body = co_await connection_->read_whole_body(kMaxAnswer);
    if (body.empty()) co_return nullptr;
    boost::system::error_code problem;
    boost::json::value value = boost::json::parse(body, problem);
    if (problem)
        throw Failure{Error{Errc::internal, "the server's answer is not JSON"}, "is this an oyat server?"};
    co_return value;
}

}  // namespace oyat::cli
