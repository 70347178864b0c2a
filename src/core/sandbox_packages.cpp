#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/live_sandbox.hpp"
#include "core/record_fields.hpp"
#include "io/timer.hpp"

// Which packages came into a sandbox, by whom and from where: its changed files are looked through after a
// command that may have brought some, and when somebody asks.
namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr const char* kKind = "packages";     // in the store
constexpr std::size_t kMostAtOnce = 5'000;    // events of one look
constexpr std::size_t kEventsInOneTurn = 64;  // others want the loop, too
constexpr Millis kTurn = 50ms;
constexpr Millis kLastLook = 2s;  // a sandbox that is to end does not wait longer for it

std::string_view text_of(const Event& event, std::string_view field) {
    const boost::json::value* value = event.fields.if_contains(field);
    return value != nullptr && value->is_string() ? std::string_view{value->get_string()}
                                                  : std::string_view{};
}

// Hosts of registries, the operator's mirrors among them, as documents know them.
bool is_registry(const policy::Vocabulary& words, std::string_view host, std::string_view address) {
    const policy::DocumentPtr packages = words.preset("packages-only");
    const Result<IpAddress> at = IpAddress::parse(address);
    for (const policy::Rule& rule : packages->rules) {
        if (rule.action != policy::Action::allow) continue;
        if (!rule.hosts.empty() && matches_any(rule.hosts, host)) return true;
        for (const Cidr& range : rule.cidrs) {
            if (at && range.contains(*at)) return true;
        }
    }
    return false;
}

void describe(Event& event, const packages::Package& package) {
    event.fields["ecosystem"] = to_string(package.ecosystem);
    event.fields["name"] = package.name;
    event.fields["version"] = package.version;
    event.fields["path"] = package.path;
}

}  // namespace

void LiveSandbox::hear_traffic(const Event& event) {
    if (event.by != Witness::proxy) return;
    if (event.type == "package.fetched") return trail_.fetched(event);
    if (event.type != "connect.allowed" && event.type != "http.request") return;
    const std::string_view host = text_of(event, "host"), address = text_of(event, "addr");
    if (is_registry(*deps_.policies.of_operator().words, host, address))
        trail_.registry_reached(host.empty() ? address : host);
}

bool LiveSandbox::packages_are_due() const {
    return trail_.is_due() && !looking_ &&
           (record_.state == SandboxState::running || record_.state == SandboxState::paused);
}

Task<> LiveSandbox::look_for_packages() {
    const auto self = shared_from_this();
    while (looking_) co_await changed_.wait();
    looking_ = true;
    const Defer done{[this] {
        looking_ = false;
        changed_.notify_all();
    }};
    const PackageTrail trail = trail_.take();
    packages::Listing listing;
    try {
        listing = co_await deps_.keeper.find_packages(record_.id);
    } catch (const Error&) {
        trail_.put_back(trail);
        throw;
    }
    const PackageBook::Change change = packages_.take(std::move(listing), trail, deps_.clock.wall());
    if (change.empty()) co_return;
    co_await record_packages(change);
    if (!is_over(record_.state)) co_await deps_.store.save_item(kKind, record_.id, packages_.to_text());
}

Task<> LiveSandbox::record_packages(const PackageBook::Change& change) {
    std::size_t told = 0;
    for (const InstalledPackage& each : change.added) {
        if (told == kMostAtOnce) break;
        if (++told % kEventsInOneTurn == 0) co_await yield_now();
        Event event = sandbox_event(record_, "package.installed", Witness::host);
        describe(event, each.package);
        event.fields["source"] = json_texts(each.sources);
        if (each.commands.size() == 1) event.fields["command"] = each.commands.front();
        if (each.commands.size() > 1) event.fields["commands"] = json_texts(each.commands);
        emit_or_log(deps_.events, std::move(event));
    }
    for (const packages::Package& each : change.removed) {
        if (told == kMostAtOnce) break;
        if (++told % kEventsInOneTurn == 0) co_await yield_now();
        Event event = sandbox_event(record_, "package.removed", Witness::host);
        describe(event, each);
        emit_or_log(deps_.events, std::move(event));
    }
    const std::size_t more = change.added.size() + change.removed.size() - told;
    if (more == 0 && packages_.complete() && packages_.odd() == 0) co_return;
    Event event = sandbox_event(record_, "package.unlisted", Witness::host);
    event.fields["more"] = more;
    event.fields["complete"] = packages_.complete();
    event.fields["odd"] = packages_.odd();
    emit_or_log(deps_.events, std::move(event));
}

// When many end at once, the keeper has no room for each of them at the same time.
Task<> LiveSandbox::look_in_turn() {
    for (;;) {
        try {
            co_return co_await look_for_packages();
        } catch (const Error& e) {
            if (e.code() != Errc::exhausted) throw;
        }
        co_await sleep_for(kTurn);
    }
}

Task<> LiveSandbox::take_last_look(EndedBy reason) {
    const bool in_peace = reason == EndedBy::killed || reason == EndedBy::timeout || reason == EndedBy::idle;
    if (!in_peace || !trail_.is_dirty()) co_return;
    try {
        co_await with_timeout(kLastLook, "packages are looked for", look_in_turn());
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("packages of an ending sandbox not looked for",
                  {{"sandbox", record_.id}, {"error", e.message()}});
    }
}

Task<SandboxPackages> LiveSandbox::packages() {
    co_await look_for_packages();
    co_return SandboxPackages{
        .packages = packages_.all(), .complete = packages_.complete(), .odd = packages_.odd()};
}

Task<> LiveSandbox::forget_packages() {
    try {
        co_await deps_.store.forget_item(kKind, record_.id);
    } catch (const Error& e) {
        log::error("packages of an ended sandbox not forgotten",
                   {{"sandbox", record_.id}, {"error", e.message()}});
    }
}

}  // namespace oyat::core
