#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/url.hpp"

namespace oyat::e2b {

// What a signed file link claims, as its query says it: values after URL decoding, "" when absent.
struct SignedLink {
    std::string path;
    std::string_view operation;  // "read" (GET) or "write" (POST)
    std::string user;
    std::string signature;
    std::optional<std::string> expiry;  // the text that was signed, Unix seconds

    static SignedLink of(const http::Query& query, std::string_view method);
};

// "v1_" + base64(sha256(path:operation:user:token[:expiry])) without padding.
[[nodiscard]] std::string sign(const SignedLink& link, std::string_view token);

enum class LinkVerdict { good, missing, wrong, expired };

// In constant time; the time of expiry is looked at only once the signature is right.
[[nodiscard]] LinkVerdict judge(const SignedLink& link, std::string_view token, WallTime now);

// The sentence that clients compare.
[[nodiscard]] std::string_view sentence(LinkVerdict verdict);

}  // namespace oyat::e2b
