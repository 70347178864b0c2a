#include "core/admission.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace oyat::core {
namespace {

Error full(std::string reason) {
    return Error{Errc::exhausted, Fault::limit, std::move(reason)};
}

}  // namespace

bool TokenBucket::take(MonoTime now) {
    const double passed = std::chrono::duration<double>{now - last_}.count();
    last_ = now;
    tokens_ = std::min(burst_, tokens_ + passed * per_second_);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
}

Admission::Tenant& Admission::of(const std::string& tenant) {
    const auto found = tenants_.find(tenant);
    if (found != tenants_.end()) return found->second;
    const MonoTime now = clock_.mono();
    return tenants_
        .emplace(tenant, Tenant{.creates = {config_.creates_per_second, config_.create_burst, now},
                                .starts = {config_.starts_per_second, config_.start_burst, now}})
        .first->second;
}

void Admission::enter(const std::string& tenant) {
    Tenant& who = of(tenant);
    if (who.sandboxes >= config_.max_sandboxes) {
        throw full("limit of " + std::to_string(config_.max_sandboxes) +
                   " sandboxes reached; kill some, or raise limits.sandboxes");
    }
    if (!who.creates.take(clock_.mono())) {
        throw full("more than " + std::to_string(config_.creates_per_second) +
                   " creates a second; try again in a moment, or raise limits.creates_per_second");
    }
    if (config_.machine_full) {
        if (std::string reason = config_.machine_full(); !reason.empty()) throw full(std::move(reason));
    }
    ++who.sandboxes;
}

void Admission::leave(const std::string& tenant) {
    Tenant& who = of(tenant);
    OYAT_ASSERT(who.sandboxes > 0);
    --who.sandboxes;
}

void Admission::start_command(const std::string& tenant) {
    if (!of(tenant).starts.take(clock_.mono())) {
        throw full("more than " + std::to_string(config_.starts_per_second) +
                   " command starts a second; try again in a moment");
    }
}

}  // namespace oyat::core
