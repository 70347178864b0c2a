#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/fields.hpp"

namespace oyat::secrets {

// A request that a sandbox makes, as oyatd has read it in clear: judged already, not yet sent.
struct RequestView {
    bool tls = true;
    std::string_view host;  // canonical: the name that was judged and that the upstream's certificate is for
    std::uint16_t port = 443;
    std::string_view method;
    std::string_view target;  // path and query as sent
    const http::Fields& fields;
    // The whole body, when it was read (Broker::body_need); nothing while it has not been.
    std::optional<std::string_view> body;
};

enum class BodyNeed {
    stream,  // may pass as it comes, through Broker::scanner()
    whole,   // must be read first, at most kMaxBody, and goes out as Prepared says
};
constexpr std::size_t kMaxBody = 1024 * 1024;

// What happened to a secret, for the record; never a value or a placeholder.
struct Note {
    enum class Kind { used, refused, leak } kind = Kind::used;
    std::string secret;  // name
    std::string place;   // "header authorization", "query key", "path", "body"
    std::string reason;  // of a refusal
};

// What is to be done with a request.
struct Prepared {
    bool forward = false;
    // To forward: what goes out. It holds true values: it is sent and forgotten, never logged or kept.
    std::string target;
    http::Fields fields;
    std::optional<std::string> body;  // when it replaces the one that came; Content-Length is set

    std::string refusal;  // else: the text of the 403
    std::vector<Note> notes;
};

}  // namespace oyat::secrets
