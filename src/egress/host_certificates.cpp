#include "egress/host_certificates.hpp"

#include <algorithm>

#include "pki/pem.hpp"

namespace oyat::egress {
namespace {

constexpr std::chrono::hours kLifetime{24 * 30};
constexpr std::chrono::hours kUsed{24 * 29};  // a connection may begin with it just before
constexpr std::size_t kMost = 512;            // a hostile program may name as many hosts as it likes

}  // namespace

std::shared_ptr<http::TlsContext> HostCertificates::of(const std::string& tenant, const std::string& host) {
    Place place{tenant, host};
    if (const auto found = shown_.find(place); found != shown_.end()) {
        if (clock_.mono() - found->second.made < kUsed) return found->second.context;
        shown_.erase(found);
    }
    const pki::Leaf leaf = authorities_.of(tenant).issue({host}, kLifetime);
    auto context = std::make_shared<http::TlsContext>(
        http::TlsContext::server(pki::to_pem(leaf.certificate.get()), pki::to_pem(leaf.key.get()),
                                 http::TlsProtocols::http1_and_http2));
    if (shown_.size() >= kMost) make_room();
    shown_.insert_or_assign(std::move(place), Shown{.context = context, .made = clock_.mono()});
    return context;
}

void HostCertificates::make_room() {
    shown_.erase(std::ranges::min_element(
        shown_, [](const auto& a, const auto& b) { return a.second.made < b.second.made; }));
}

}  // namespace oyat::egress
