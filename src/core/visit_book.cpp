#include "core/visit_book.hpp"

#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::core {
namespace {

constexpr std::size_t kMostSeen = 50'000;

}  // namespace

void VisitBook::note(const SandboxRecord& sandbox, const Visit& visit) {
    const std::int64_t day =
        unix_millis(clock_.wall()) / std::chrono::milliseconds{std::chrono::hours{24}}.count();
    if (day != day_ || seen_.size() >= kMostSeen) seen_.clear();
    day_ = day;
    const std::string key = sandbox.id + " " + std::to_string(visit.port) + " " + visit.peer + " " + visit.by;
    if (seen_.contains(key)) return;

    const bool denied = visit.by.empty();
    Event event = sandbox_event(sandbox, denied ? "ingress.denied" : "ingress.visit", Witness::proxy);
    event.fields = {
        {"port", visit.port}, {"peer", json_text(visit.peer)}, {"client", json_text(visit.client)}};
    if (denied) {
        event.fault = Fault::policy;
        event.fields["reason"] = json_text(visit.reason);
    } else {
        event.fields["way"] = json_text(visit.by);
    }
    events_.emit(std::move(event));
    seen_.insert(key);
}

}  // namespace oyat::core
