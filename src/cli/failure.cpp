#include "cli/failure.hpp"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <optional>

#include "cli/json_read.hpp"
#include "cli/terminal.hpp"

namespace oyat::cli {
namespace {

constexpr std::array kCodes{Errc::invalid_argument,    Errc::not_found, Errc::already_exists,
                            Errc::failed_precondition, Errc::exhausted, Errc::denied,
                            Errc::unavailable,         Errc::deadline,  Errc::canceled,
                            Errc::unimplemented,       Errc::internal};
constexpr std::array kFaults{Fault::client,  Fault::policy,   Fault::command,      Fault::limit,
                             Fault::agent,   Fault::engine,   Fault::image,        Fault::mirror,
                             Fault::network, Fault::upstream, Fault::oyat_operator};

template <class T, std::size_t N>
std::optional<T> by_name(const std::array<T, N>& all, std::string_view name) {
    for (const T each : all) {
        if (to_string(each) == name) return each;
    }
    return std::nullopt;
}

}  // namespace

Failure Failure::from_answer(int status, const std::string& body) {
    boost::system::error_code problem;
    const boost::json::value parsed = boost::json::parse(body, problem);
    const boost::json::value* error = problem ? nullptr : member(parsed, "error");
    if (error == nullptr) {
        return {Error{Errc::internal, "the server answered " + std::to_string(status)},
                "is this an oyat server? OYAT_URL says where it is"};
    }
    const Errc code = by_name(kCodes, text(*error, "code")).value_or(Errc::internal);
    const Fault fault = by_name(kFaults, text(*error, "fault")).value_or(default_fault(code));
    std::string hint = text(*error, "hint");
    if (status == 401) hint = "set OYAT_API_KEY; on the server itself, members of the group oyat need none";
    return {Error{code, fault, text(*error, "message")}.recorded_as(text(*error, "event")), std::move(hint)};
}

std::vector<std::string> fault_names() {
    std::vector<std::string> names;
    for (const Fault fault : kFaults) names.emplace_back(to_string(fault));
    return names;
}

std::string hint_for(const Error& error) {
    if (error.code() == Errc::unavailable || error.code() == Errc::deadline)
        return "sandboxes go on without the server; 'oyat status' says whether it is up";
    return "";
}

void print_failure(const Error& error, const std::string& hint, bool json) {
    if (json) {
        boost::json::object shown{{"code", to_string(error.code())},
                                  {"message", error.message()},
                                  {"fault", to_string(error.fault())},
                                  {"event", nullptr},
                                  {"hint", nullptr}};
        if (!error.event().empty()) shown["event"] = error.event();
        if (!hint.empty()) shown["hint"] = hint;
        print(boost::json::serialize(boost::json::object{{"error", std::move(shown)}}) + "\n");
        return;
    }
    const Paint paint{STDERR_FILENO};
    std::string message = paint.red("error:") + " " + printable(error.message());
    if (!error.event().empty()) message += paint.dim(" (" + error.event() + ")");
    message += "\n";
    if (!hint.empty()) message += paint.dim("hint:") + " " + printable(hint) + "\n";
    std::fputs(message.c_str(), stderr);
}

}  // namespace oyat::cli
