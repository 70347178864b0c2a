#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/fields.hpp"

// Requests signed the AWS way (Signature Version 4). The client signs with a placeholder; its signature is
// taken out and made again with the true key. Pure.
namespace oyat::secrets::sigv4 {

// What the client's signature says about itself.
struct Claim {
    enum class Where { header, query } where = Where::header;
    std::string key_id;
    std::string date;  // "20261130"
    std::string region;
    std::string service;
    std::vector<std::string> signed_fields;  // lower case, sorted, "host" among them
};

// Nothing: the request is not signed this way. Refused: it says that it is, and is not.
[[nodiscard]] Result<std::optional<Claim>> read_claim(const http::Fields& fields, std::string_view target);

// The key as it is kept: "KEY-ID:SECRET-KEY" or "KEY-ID:SECRET-KEY:SESSION-TOKEN".
struct Key {
    std::string_view id, secret, session;
    [[nodiscard]] static Result<Key> parse(std::string_view value);
};

// Whether the signature needs the body's digest, which the client did not send along.
[[nodiscard]] bool needs_body(const Claim& claim, const http::Fields& fields);

struct Request {
    std::string method;
    std::string host;  // as in the Host field, with its port unless it is the usual one
    std::string target;
    http::Fields fields;
    std::string_view body;
};
// Changes target or fields so that the request is signed with `key`. Refuses bodies that are signed piece by
// piece.
[[nodiscard]] Result<void> sign(Request& request, const Claim& claim, const Key& key);

}  // namespace oyat::secrets::sigv4
