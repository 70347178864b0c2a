#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/fields.hpp"
#include "io/task.hpp"

namespace oyat::http {

// A request that has been allowed and is about to be written anew for its upstream. What is changed here is
// what the upstream gets. Where it goes cannot be changed any more.
struct OutgoingRequest {
    // Judged: the name that the request, the certificate and the address agree on, canonical; "" when the
    // request names an address.
    std::string host;
    std::uint16_t port = 0;
    bool tls = false;
    std::string method;

    std::string target;                // origin form, as the client sent it
    Fields fields;                     // without Host and those that belong to the connection
    std::optional<std::string> body;   // the whole of it, when wants_body() asked for that
    std::vector<std::string> carries;  // the names of what apply() put in
};

// Looks at a body on its way to the upstream.
class BodyWatch {
public:
    virtual ~BodyWatch() = default;
    // Called with each piece before it leaves. A refusal ends the request, and the piece stays here.
    [[nodiscard]] virtual Result<void> pass(std::string_view piece) = 0;
};

// Looks at an answer on its way to the client, and may change bytes of it, never their number: its length has
// been announced.
class AnswerFilter {
public:
    virtual ~AnswerFilter() = default;
    [[nodiscard]] virtual std::string field(std::string_view value) = 0;
    // Appends to `out` what is decided of the body so far.
    virtual void feed(std::string_view piece, std::string& out) = 0;
    virtual void finish(std::string& out) = 0;
};

// Changes the requests of one client on their way out, or refuses them: how a secret comes to where it is
// bound, and how one that is carried elsewhere, be it in a name, is noticed. On the loop; outlives the
// connections.
class RequestTransform {
public:
    virtual ~RequestTransform() = default;
    // How long a body may be that has to be known whole before apply(); 0 when it may pass unread. A longer
    // one is refused.
    [[nodiscard]] virtual std::size_t wants_body(const OutgoingRequest& request) const = 0;
    // A refusal is answered 403 with its message, which is shown to the program inside.
    virtual Task<Result<void>> apply(OutgoingRequest& request) = 0;
    // For a body that is not known whole; null when there is nothing to be looked for.
    [[nodiscard]] virtual std::unique_ptr<BodyWatch> watch(const OutgoingRequest& request) = 0;
    // Whether the client may ask for a name: one can be made of what should not leave.
    [[nodiscard]] virtual bool may_look_up(const std::string& name) = 0;
    // Whether the record may have a text of the client's. Nothing has left, and nobody is told.
    [[nodiscard]] virtual bool may_record(std::string_view text) const = 0;
    // For its answer; null when that may pass as it is.
    [[nodiscard]] virtual std::unique_ptr<AnswerFilter> filter(const OutgoingRequest& request) = 0;
};

}  // namespace oyat::http
