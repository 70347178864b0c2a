#include "api/e2b/refusal_record.hpp"

#include "base/log.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kMaxClient = 128;
constexpr std::size_t kMaxSentence = 1024;

// The answer to the client matters more than its record, which may be what is broken.
std::string emit(Services& services, core::Event event) {
    try {
        return services.events.emit(std::move(event));
    } catch (const Error& error) {
        log::warn("a refusal could not be recorded", {{"what", error.message()}});
        return {};
    }
}

}  // namespace

void complete_principal(core::Principal& who, const http::RequestHead& head) {
    who.client = std::string{head.fields.get("User-Agent").substr(0, kMaxClient)};
    who.protocol = "e2b";
}

std::string record_failed_login(Services& services, const http::RequestHead& head, const Error& error) {
    if (error.code() != Errc::denied) return {};
    core::Event event;
    event.type = "auth.failed";
    event.fault = error.fault();
    event.fields = {{"peer", head.peer}, {"reason", error.message()}};
    return emit(services, std::move(event));
}

Error record_refusal(Services& services, const core::Principal& who, std::string_view route, int status,
                     Error error, std::string sandbox) {
    if (!error.event().empty()) return error;
    core::Event event;
    event.type = "request.refused";
    event.tenant = who.tenant;
    event.sandbox = std::move(sandbox);
    event.fault = error.fault();
    event.fields = {
        {"route", route},    {"status", status},     {"sentence", error.message().substr(0, kMaxSentence)},
        {"key", who.key_id}, {"client", who.client}, {"protocol", who.protocol}};
    return std::move(error).recorded_as(emit(services, std::move(event)));
}

}  // namespace oyat::e2b
