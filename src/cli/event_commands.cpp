#include "cli/commands.hpp"
#include "cli/event_view.hpp"
#include "cli/failure.hpp"
#include "http/url.hpp"

namespace oyat::cli {
namespace {

// Returns how many there were.
Task<std::uint64_t> show_lines(Context& context, std::string path, Output output) {
    std::uint64_t shown = 0;
    co_await context.client.lines(std::move(path), [&](std::string_view line) {
        ++shown;
        if (context.json) {
            print(std::string{line} + "\n");
        } else {
            print(show_event_line(line, context.paint, output));
        }
    });
    co_return shown;
}

}  // namespace

Task<int> logs(Context& context, std::string id, bool follow, std::uint64_t limit) {
    std::string path = "/v1/events?sandbox=" + http::percent_encode(id) + "&limit=" + std::to_string(limit);
    if (follow) path += "&follow";
    if (co_await show_lines(context, std::move(path), Output::shown) > 0 || limit == 0) co_return 0;
    throw Failure{Error{Errc::not_found, Fault::client, "the server remembers nothing of " + id},
                  "'oyat audit show " + id + "' looks into the record, which reaches further back"};
}

Task<int> watch(Context& context, Watch options) {
    std::string path = "/v1/events?follow&limit=" + std::string{options.old ? "10000" : "0"};
    if (!options.sandbox.empty()) path += "&sandbox=" + http::percent_encode(options.sandbox);
    if (!options.type.empty()) path += "&type=" + http::percent_encode(options.type);
    co_await show_lines(context, std::move(path), Output::hidden);
    co_return 0;
}

}  // namespace oyat::cli
