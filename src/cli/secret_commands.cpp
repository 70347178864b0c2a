#include <fcntl.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/local_file.hpp"
#include "http/url.hpp"

// Secrets. A value comes from a file or standard input, never from an argument: those can be seen by
// everybody on the machine, and shells write them down.
namespace oyat::cli {
namespace {

constexpr std::size_t kMaxValue = 64 * 1024;

std::string path_of(const std::string& name) {
    return "/v1/secrets/" + http::percent_encode(name);
}

// Without the one line feed that `echo` and editors leave at the end.
std::string read_value(const std::string& file) {
    const bool is_input = file.empty() || file == "-";
    const Fd opened{is_input ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!is_input && !opened) local_failure(file, "open");
    const int from = is_input ? STDIN_FILENO : opened.get();
    if (is_input && ::isatty(from) != 0)
        print_to(STDERR_FILENO, "oyat: type the value, then end with Ctrl-D\n");
    std::string value;
    while (value.size() <= kMaxValue + 1) {
        char piece[4096];
        const ssize_t size = ::read(from, piece, sizeof piece);
        if (size < 0) local_failure(is_input ? "standard input" : file, "read");
        if (size == 0) break;
        value.append(piece, static_cast<std::size_t>(size));
    }
    if (value.ends_with('\n')) value.pop_back();
    if (value.size() > kMaxValue) throw Error{Errc::invalid_argument, "a secret's value of more than 64 KiB"};
    return value;
}

boost::json::object hosts_json(const NewSecret& secret) {
    boost::json::object body;
    if (!secret.hosts.empty()) body["hosts"] = boost::json::array(secret.hosts.begin(), secret.hosts.end());
    if (!secret.description.empty()) body["description"] = secret.description;
    if (secret.life) {
        body["expires_ms"] = unix_millis(SystemClock{}.wall() + *secret.life);
    }
    return body;
}

void show(Context& context, const boost::json::value& secret, std::string_view what) {
    print(context.json ? boost::json::serialize(secret) + "\n"
                       : text(secret, "name") + ": " + std::string{what} + ", version " +
                             std::to_string(number(secret, "version")) + "\n");
}

std::string state_of(const boost::json::value& secret) {
    return flag(secret, "revoked") ? "revoked" : "valid";
}

std::string hosts_of(const boost::json::value& secret) {
    std::string line;
    for (const boost::json::value& host : list(secret, "hosts")) {
        if (host.is_string()) line += (line.empty() ? "" : ",") + std::string{host.get_string().subview()};
    }
    return line;
}

}  // namespace

Task<int> secret_create(Context& context, std::string name, NewSecret secret) {
    boost::json::object body = hosts_json(secret);
    body["name"] = name;
    body["value"] = read_value(secret.file);
    show(context, co_await context.client.post("/v1/secrets", std::move(body)), "created");
    co_return 0;
}

Task<int> secret_rotate(Context& context, std::string name, std::string file, Millis grace) {
    boost::json::object body{{"value", read_value(file)}, {"grace_ms", grace.count()}};
    show(context, co_await context.client.post(path_of(name) + "/rotate", std::move(body)), "rotated");
    co_return 0;
}

Task<int> secret_revoke(Context& context, std::string name) {
    show(context, co_await context.client.post(path_of(name) + "/revoke", boost::json::object{}), "revoked");
    co_return 0;
}

Task<int> secret_ls(Context& context) {
    const boost::json::value answer = co_await context.client.get("/v1/secrets");
    if (context.json) {
        print(boost::json::serialize(answer) + "\n");
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"NAME", "VERSION", "HOSTS", "UPDATED", "EXPIRES", "STATE"}};
    for (const boost::json::value& secret : list(answer, "secrets")) {
        rows.push_back({text(secret, "name"), std::to_string(number(secret, "version")), hosts_of(secret),
                        text(secret, "updated"), text(secret, "expires"), state_of(secret)});
    }
    print(show_table(rows));
    co_return 0;
}

Task<int> secret_show(Context& context, std::string name) {
    print(boost::json::serialize(co_await context.client.get(path_of(name))) + "\n");
    co_return 0;
}

Task<int> secret_rm(Context& context, std::string name) {
    co_await context.client.remove(path_of(name));
    if (context.json) print(boost::json::serialize(boost::json::object{{"removed", name}}) + "\n");
    co_return 0;
}

}  // namespace oyat::cli
