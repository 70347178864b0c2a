#include "cli/commands.hpp"
#include "cli/event_view.hpp"
#include "http/url.hpp"

namespace oyat::cli {
namespace {

Task<> show_lines(Context& context, std::string path, Output output) {
    co_await context.client.lines(std::move(path), [&](std::string_view line) {
        if (context.json) {
            print(std::string{line} + "\n");
        } else {
            print(show_event_line(line, context.paint, output));
        }
    });
}

}  // namespace

Task<int> logs(Context& context, std::string id, bool follow, std::uint64_t limit) {
    std::string path = "/v1/events?sandbox=" + http::percent_encode(id) + "&limit=" + std::to_string(limit);
    if (follow) path += "&follow";
    co_await show_lines(context, std::move(path), Output::shown);
    co_return 0;
}

Task<int> watch(Context& context, Watch options) {
    std::string path = "/v1/events?follow&limit=" + std::string{options.old ? "10000" : "0"};
    if (!options.sandbox.empty()) path += "&sandbox=" + http::percent_encode(options.sandbox);
    if (!options.type.empty()) path += "&type=" + http::percent_encode(options.type);
    co_await show_lines(context, std::move(path), Output::hidden);
    co_return 0;
}

}  // namespace oyat::cli
