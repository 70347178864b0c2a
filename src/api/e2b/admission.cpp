#include "api/e2b/admission.hpp"

#include <algorithm>

#include "api/e2b/error_answer.hpp"
#include "api/e2b/refusal_record.hpp"
#include "api/e2b/signature.hpp"
#include "base/id.hpp"

namespace oyat::e2b {
namespace {

// What a sandbox gets when a request woke it: as much as it was given before, but time enough for some work.
constexpr Millis kLeastAfterWaking = std::chrono::minutes{5};

Admission refused(std::string_view sentence) {
    return {false, std::string{sentence}};
}

}  // namespace

core::Principal holder_of(const core::SandboxRecord& record, const http::RequestHead& head) {
    core::Principal who;
    who.key_id = record.key_id;
    who.tenant = record.tenant;
    who.scopes = static_cast<std::uint8_t>(core::Scope::run);
    complete_principal(who, head);
    return who;
}

Admission admit(const core::SandboxRecord& record, const http::RequestHead& head, std::string_view query,
                Entry entry, WallTime now) {
    if (entry == Entry::open || !record.secure) return {true, {}};
    const std::string_view token = head.fields.get("X-Access-Token");
    if (head.fields.count("X-Access-Token") == 1 && equal_constant_time(token, record.access_token)) {
        return {true, {}};
    }
    // A wrong token is wrong, whatever else the request brings.
    if (entry == Entry::token || head.fields.has("X-Access-Token")) {
        return refused(
            "unauthorized access, please provide a valid access token or method signing if supported");
    }
    const Result<http::Query> parsed = http::Query::parse(query);
    if (!parsed) return refused(sentence(LinkVerdict::missing));
    const LinkVerdict verdict = judge(SignedLink::of(*parsed, head.method), record.access_token, now);
    if (verdict == LinkVerdict::good) return {true, {}};
    return refused(sentence(verdict));
}

Task<Waking> wake(Services& services, std::shared_ptr<core::Sandbox> sandbox, core::Principal who) {
    const core::SandboxRecord& record = sandbox->record();
    const bool sleeps =
        record.state == core::SandboxState::paused || record.state == core::SandboxState::pausing;
    if (record.state == core::SandboxState::running) co_return Waking{Wakefulness::running, {}, 0};
    // One that has only its files is not started anew because somebody looked at it.
    const bool may_be_woken = record.auto_resume && (!record.stored || record.has_memory);
    if (!(sleeps && may_be_woken) && record.state != core::SandboxState::resuming) co_return Waking{};
    try {
        co_await services.sandboxes.connect(record.id, std::max(record.timeout, kLeastAfterWaking),
                                            core::Keep::memory, std::move(who));
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        if (error.code() == Errc::not_found) co_return Waking{};
        co_return Waking{Wakefulness::refused, error.message(), control_status(error)};
    }
    co_return Waking{Wakefulness::running, {}, 0};
}

}  // namespace oyat::e2b
