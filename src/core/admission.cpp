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

Admission::Rates& Admission::rates_of(const std::string& key) {
    const auto found = rates_.find(key);
    if (found != rates_.end()) return found->second;
    const MonoTime now = clock_.mono();
    return rates_
        .emplace(key, Rates{.creates = {config_.creates_per_second, config_.create_burst, now},
                            .starts = {config_.starts_per_second, config_.start_burst, now}})
        .first->second;
}

void Admission::enter(const std::string& tenant, const std::string& key) {
    std::uint32_t& sandboxes = sandboxes_[tenant];
    if (sandboxes >= config_.max_sandboxes) {
        throw full("limit of " + std::to_string(config_.max_sandboxes) +
                   " sandboxes reached; kill some, or raise limits.sandboxes");
    }
    if (!rates_of(key).creates.take(clock_.mono())) {
        throw full(
            "more than " + std::to_string(config_.creates_per_second) +
            " creates a second with this key; try again in a moment, or raise tenant.creates_per_second");
    }
    if (config_.machine_full) {
        if (std::string reason = config_.machine_full(); !reason.empty()) throw full(std::move(reason));
    }
    ++sandboxes;
}

void Admission::leave(const std::string& tenant) {
    std::uint32_t& sandboxes = sandboxes_[tenant];
    OYAT_ASSERT(sandboxes > 0);
    --sandboxes;
}

void Admission::start_command(const std::string& key) {
    if (!rates_of(key).starts.take(clock_.mono())) {
        throw full("more than " + std::to_string(config_.starts_per_second) +
                   " command starts a second with this key; try again in a moment, or raise "
                   "tenant.starts_per_second");
    }
}

}  // namespace oyat::core
