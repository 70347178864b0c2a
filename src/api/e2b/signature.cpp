#include "api/e2b/signature.hpp"

#include <openssl/sha.h>

#include <charconv>

#include "base/id.hpp"
#include "rpc/base64.hpp"

namespace oyat::e2b {
namespace {

bool is_over(const std::string& expiry, WallTime now) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(expiry.data(), expiry.data() + expiry.size(), seconds);
    if (error != std::errc{} || end != expiry.data() + expiry.size()) return true;
    return seconds < unix_millis(now) / 1000;
}

}  // namespace

SignedLink SignedLink::of(const http::Query& query, std::string_view method) {
    SignedLink link;
    link.path = query.get("path").value_or("");
    link.operation = method == "POST" ? "write" : "read";
    link.user = query.get("username").value_or("");
    link.signature = query.get("signature").value_or("");
    link.expiry = query.get("signature_expiration");
    return link;
}

std::string sign(const SignedLink& link, std::string_view token) {
    std::string raw = link.path;
    raw.append(":").append(link.operation).append(":").append(link.user).append(":").append(token);
    if (link.expiry) raw.append(":").append(*link.expiry);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(raw.data()), raw.size(), digest);
    std::string signature = "v1_";
    rpc::append_base64(signature, {reinterpret_cast<const char*>(digest), sizeof digest});
    signature.resize(signature.find_last_not_of('=') + 1);
    return signature;
}

LinkVerdict judge(const SignedLink& link, std::string_view token, WallTime now) {
    if (link.signature.empty()) return LinkVerdict::missing;
    if (!equal_constant_time(sign(link, token), link.signature)) return LinkVerdict::wrong;
    if (link.expiry && is_over(*link.expiry, now)) return LinkVerdict::expired;
    return LinkVerdict::good;
}

std::string_view sentence(LinkVerdict verdict) {
    switch (verdict) {
        case LinkVerdict::good: return "";
        case LinkVerdict::missing: return "missing signature query parameter";
        case LinkVerdict::wrong: return "invalid signature";
        case LinkVerdict::expired: return "signature is already expired";
    }
    return "";
}

}  // namespace oyat::e2b
