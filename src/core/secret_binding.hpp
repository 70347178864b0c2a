#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

// Which request may carry a secret, and where in it, as somebody asked for it: words only. `secrets` checks
// them and makes rules of them.
namespace oyat::core {

enum class SecretPlace : std::uint8_t {
    header,      // the placeholder in a field that the client sent is replaced; the name "*": in any field
    set_header,  // the field is set whatever the client sent: nothing at all of it is inside
    basic,       // the placeholder in the user or the password of "Authorization: Basic"
    query,       // the placeholder in the parameter of that name
    body,        // the placeholder in the member of that name of a JSON object or a form
    aws_sigv4,  // the request is signed anew; the value is "KEY-ID:SECRET-KEY" or "KEY-ID:SECRET-KEY:SESSION"
};

enum class OnCopy : std::uint8_t {
    drop,    // in a fork or a restored snapshot the placeholder is dead
    rebind,  // the copy gets one of its own, when the call that makes it names the secret
};

struct SecretBinding {
    std::string secret;
    std::string env;    // the variable that holds the placeholder; "" for set_header
    std::string shape;  // of the placeholder, "sk-{32}": {n} stands for n random characters; "": our own

    std::vector<std::string> hosts;  // "api.example", "*.api.example"
    std::vector<std::uint16_t> ports{443};
    std::vector<std::string> methods;  // empty: all
    std::vector<std::string> paths;    // empty: all
    bool allow_plain = false;          // without TLS, too: for services of one's own network

    SecretPlace place = SecretPlace::header;
    // Of the field, parameter or member. aws_sigv4: the variable for the id of the key.
    std::string name;
    // What a field becomes: "Bearer {}". {} is the secret, {secret:NAME} another one, {token:NAME} an
    // identity token made for this request, {{ and }} are braces. "": only the placeholder is replaced.
    std::string format;

    std::vector<std::vector<std::string>> commands;  // argv patterns; not empty: placeholders are made for
                                                     // these commands and die with them
    std::optional<WallTime> expires;
    std::uint64_t max_uses = 0;   // 0: no limit
    bool during_install = false;  // also while packages are being installed
    OnCopy on_fork = OnCopy::drop;
    OnCopy on_snapshot = OnCopy::drop;

    // Bindings of one group are replaced together. "": it stands alone. No word of the native API: who makes
    // a binding out of another protocol says it.
    std::string group;
};

// The fields that a protocol lets a client set for all requests to a host, as one list.
inline constexpr std::string_view kHeaderRules = "header-rules";

// A token that oyatd signs for a sandbox: who it is, to whom (`audience`), for some minutes.
struct IdentityToken {
    std::string audience;
};

// All that one sandbox may use without having it.
struct SecretPlan {
    std::vector<SecretBinding> bindings;
    std::map<std::string, IdentityToken> identities;  // by the names that {token:NAME} uses

    [[nodiscard]] bool empty() const { return bindings.empty() && identities.empty(); }
};

// The form of the native API and of the store. Unknown members, wrong types and words are refused by name.
[[nodiscard]] boost::json::object to_json(const SecretBinding& binding);
[[nodiscard]] Result<SecretBinding> secret_binding_from_json(const boost::json::object& json);

}  // namespace oyat::core
