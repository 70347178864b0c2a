#include "cli/quiet_command.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/failure.hpp"
#include "cli/json_read.hpp"
#include "io/framed_stream.hpp"

namespace oyat::cli {
namespace {

constexpr std::size_t kLastWords = 4096;

}  // namespace

Task<> run_quietly(Client& client, std::string id, std::vector<std::string> argv, std::string user) {
    const std::string program = argv.at(0);
    const std::unique_ptr<Stream> stream =
        co_await client.upgrade("/v1/sandboxes/" + id + "/exec", "oyat-command");
    FramedStream frames{*stream};
    boost::json::object order{{"argv", boost::json::array(argv.begin(), argv.end())}};
    if (!user.empty()) order["user"] = user;
    co_await frames.write('q', boost::json::serialize(order));
    std::string said;
    while (std::optional<FramedStream::Frame> frame = co_await frames.read()) {
        if (frame->kind == 'e' && said.size() < kLastWords) said += frame->bytes;
        if (frame->kind == 'f') throw Failure::from_answer(0, frame->bytes);
        if (frame->kind != 'x') continue;
        boost::system::error_code problem;
        const boost::json::value end = boost::json::parse(frame->bytes, problem);
        if (!problem && number(end, "exit_code") == 0 && number(end, "signal") == 0) co_return;
        throw Failure{Error{Errc::failed_precondition, Fault::command,
                            program + " inside failed: " + said.substr(0, said.find('\n'))},
                      ""};
    }
    throw Error{Errc::unavailable, Fault::engine, "the server went away while " + program + " ran"};
}

}  // namespace oyat::cli
