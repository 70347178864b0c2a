#include "api/e2b/link_lookup.hpp"

#include "api/e2b/signature.hpp"

namespace oyat::e2b {
namespace {

constexpr int kMostFailures = 100;
constexpr auto kWindow = std::chrono::minutes{1};
constexpr std::size_t kMostPeers = 10'000;

}  // namespace

bool LinkLookup::is_slowed(const std::string& peer) {
    const auto found = failures_.find(peer);
    if (found == failures_.end()) return false;
    if (services_.clock.mono() - found->second.since > kWindow) {
        failures_.erase(found);
        return false;
    }
    return found->second.count >= kMostFailures;
}

void LinkLookup::count_failure(const std::string& peer) {
    if (failures_.size() >= kMostPeers && !failures_.contains(peer)) failures_.clear();
    Failures& failures = failures_[peer];
    if (failures.count++ == 0) failures.since = services_.clock.mono();
}

LinkPlace LinkLookup::find(const http::RequestHead& head) {
    const Result<http::Query> query = http::Query::parse(head.query);
    if (head.path != "/files" || !query || !query->get("signature")) {
        return {nullptr, 400,
                "the request names no sandbox: send the headers E2b-Sandbox-Id and E2b-Sandbox-Port"};
    }
    if (is_slowed(head.peer))
        return {nullptr, 429, "too many wrong signatures from this address: wait a minute"};
    const SignedLink link = SignedLink::of(*query, head.method);
    for (const std::shared_ptr<core::Sandbox>& sandbox : services_.sandboxes.every()) {
        // The expiry is judged at the door, where its answer is the same for every way that leads there.
        const LinkVerdict verdict = judge(link, sandbox->record().access_token, services_.clock.wall());
        if (verdict == LinkVerdict::good || verdict == LinkVerdict::expired) return {sandbox, 0, {}};
    }
    count_failure(head.peer);
    return {nullptr, 401, std::string{sentence(LinkVerdict::wrong)}};
}

}  // namespace oyat::e2b
