#include "api/e2b/agent_door.hpp"

#include <algorithm>
#include <array>

#include "api/e2b/admission.hpp"
#include "api/e2b/agent_facts.hpp"
#include "api/e2b/cross_origin.hpp"
#include "api/e2b/destination.hpp"
#include "api/e2b/error_answer.hpp"
#include "api/e2b/file_transfer.hpp"
#include "api/e2b/refusal_record.hpp"
#include "api/e2b/rpc_services.hpp"
#include "api/e2b/sandbox_answer.hpp"
#include "api/e2b/unknown_user.hpp"
#include "base/log.hpp"
#include "io/cancel.hpp"

namespace oyat::e2b {
namespace {

// The plain HTTP calls.
struct PlainCall {
    std::string_view method;
    std::string_view path;
    Entry entry;
    Task<> (*function)(AgentCall&);
};

constexpr std::array kPlainCalls{
    PlainCall{"GET", "/health", Entry::open, answer_health},
    PlainCall{"GET", "/metrics", Entry::token, answer_metrics},
    PlainCall{"GET", "/envs", Entry::token, answer_variables},
    PlainCall{"GET", "/files", Entry::file_link, send_file},
    PlainCall{"POST", "/files", Entry::file_link, receive_files},
    PlainCall{"POST", "/files/compose", Entry::token, compose_file},
};

const PlainCall* find_plain(std::string_view method, std::string_view path) {
    const auto found = std::ranges::find_if(
        kPlainCalls, [&](const PlainCall& call) { return call.path == path && call.method == method; });
    return found == kPlainCalls.end() ? nullptr : &*found;
}

bool is_known_path(std::string_view path) {
    return std::ranges::any_of(kPlainCalls, [&](const PlainCall& call) { return call.path == path; });
}

}  // namespace

Task<> AgentDoor::handle(http::Exchange& exchange, std::shared_ptr<core::Sandbox> sandbox,
                         std::string target) {
    if (!exchange.request().fields.has("Origin")) {
        co_await enter(exchange, std::move(sandbox), std::move(target));
        co_return;
    }
    CrossOriginExchange opened{exchange};
    if (exchange.request().method == "OPTIONS") {
        co_await opened.answer_preflight();
    } else {
        co_await enter(opened, std::move(sandbox), std::move(target));
    }
}

Task<> AgentDoor::enter(http::Exchange& exchange, std::shared_ptr<core::Sandbox> sandbox,
                        std::string target) {
    const http::RequestHead& head = exchange.request();
    std::string path{path_of(target)};
    std::string query{query_of(target)};
    const PlainCall* plain = find_plain(head.method, path);
    if (plain == nullptr && !is_rpc_method(path)) {
        const bool known = is_known_path(path);
        co_await answer_agent_error(exchange, known ? 405 : 404,
                                    known ? "method not allowed" : "no such path");
        co_return;
    }
    const core::SandboxRecord& record = sandbox->record();
    // A sleeping sandbox is woken only for who proves to belong to it, also by the call that is open
    // otherwise.
    const bool awake = record.state == core::SandboxState::running;
    const Entry entry = plain == nullptr                                              ? Entry::token
                        : plain->entry == Entry::open && !awake && record.auto_resume ? Entry::token
                                                                                      : plain->entry;
    const Admission admission = admit(record, head, query, entry, services_.clock.wall());
    if (!admission.granted) {
        co_await answer_agent_error(exchange, 401, admission.sentence);
        co_return;
    }
    core::Principal who = holder_of(record, head);
    const Waking waking = co_await wake(services_, sandbox, who);
    if (waking.state == Wakefulness::gone) {
        co_await answer_no_sandbox(exchange, record.id);
    } else if (waking.state == Wakefulness::refused) {
        co_await answer_refused(exchange, record.id, waking.status, waking.sentence);
    } else {
        AgentCall call{services_, exchange, sandbox, std::move(query), {}, std::move(who)};
        co_await dispatch(call, std::move(path));
    }
}

Task<> AgentDoor::dispatch(AgentCall& call, std::string path) {
    const PlainCall* plain = find_plain(call.exchange.request().method, path);
    std::optional<Error> failure;
    try {
        if (plain != nullptr) {
            co_await plain->function(call);
        } else {
            co_await serve_rpc(call, path, watchers_);
        }
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        failure = error;
    } catch (const std::exception& error) {
        if (is_canceled(std::current_exception())) throw;
        log::error("agent call failed", {{"path", path}, {"what", error.what()}});
        failure = Error{Errc::internal, "internal error"};
    }
    if (!failure) co_return;
    const bool gone = call.sandbox->record().state != core::SandboxState::running;
    if (call.exchange.started()) {
        call.exchange.abort();
    } else if (gone && failure->code() == Errc::unavailable) {
        co_await answer_no_sandbox(call.exchange, call.sandbox->record().id);
    } else if (co_await is_unknown_user(call, *failure)) {
        co_await answer_agent_error(call.exchange, 401, failure->message());
    } else {
        failure = record_refusal(services_, call.who, path, agent_status(*failure), *std::move(failure),
                                 call.sandbox->record().id);
        co_await answer_agent_error(call.exchange, *std::move(failure));
    }
}

}  // namespace oyat::e2b
