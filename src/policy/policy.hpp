#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/document.hpp"

namespace oyat::policy {

enum class Layer : std::uint8_t { server, tenant, template_, sandbox };
[[nodiscard]] std::string_view to_string(Layer layer) noexcept;

struct LayerDocument {
    Layer layer = Layer::server;
    std::shared_ptr<const Document> document;
};

// Hosts whose requests oyatd must read although no rule asks for it: those that a secret is bound to.
struct Interception {
    std::vector<HostPattern> hosts;
    std::vector<PortRange> ports;
};

// A proxy out in the world that all connections of a sandbox go through, after they were judged.
struct Via {
    enum class Kind : std::uint8_t { socks5, http } kind = Kind::socks5;
    std::string host;  // a name, or an address
    std::uint16_t port = 0;
    std::string user, password;  // both empty: no login
};

// All that is in force for one sandbox, as one object that never changes: a change makes the next generation.
// Layers stand from the server's down; each can only narrow what those above allow.
struct Policy {
    std::uint64_t generation = 1;
    std::vector<LayerDocument> layers;
    std::vector<Interception> interceptions;
    // While packages are being installed: what holds besides the layers, in the name of the one that wants
    // it.
    std::optional<LayerDocument> install_window;
    std::optional<Via> via;
    bool cut = false;  // the operator's brake: nothing passes, whatever the layers say

    // No rule at all: for tests, and for sandboxes whose documents are all absent.
    [[nodiscard]] static std::shared_ptr<const Policy> open();
};

// What a git push wants to change, read off the front of its body.
struct Push {
    std::optional<std::vector<std::string>> refs;  // "refs/heads/main"; nothing: it could not be read
};

struct Request {
    std::string_view method;
    // Nothing when the target is ambiguous.
    std::optional<CanonicalTarget> target;
    const Push* push = nullptr;  // null: nobody has looked yet
};

// What is known of a connection when it is judged. Looking further costs time, so decide() says when it is
// needed.
struct Attempt {
    IpAddress address;
    std::uint16_t port = 0;
    std::optional<std::string> name;     // canonical; "": it has none; nothing: nobody has looked yet
    Strength strength = Strength::cidr;  // what `name` is worth
    std::optional<Protocol> protocol;    // tls, http or tcp (neither); nothing: nobody has looked yet
    const Request* request = nullptr;    // null: nobody has looked yet
    bool final = false;  // nothing more will be known: what is unknown matches no rule that allows
};

// What to look at next. A name comes before a request, and is known when that is.
enum class Need : std::uint8_t {
    nothing,
    push,     // read the refs that the request's push changes
    request,  // read the requests: plain HTTP, or TLS by interception
    name,     // look at the first bytes: TLS server name, HTTP Host
};

struct Decision {
    Need need = Need::nothing;  // unless `nothing`, the rest says nothing yet
    Action action = Action::deny;
    std::string_view rule = "default";  // id; valid as long as the Policy
    const Rule* by = nullptr;           // null for a document's default
    Layer layer = Layer::server;
    std::string_view category;

    [[nodiscard]] bool allows() const {
        return need == Need::nothing && (action == Action::allow || action == Action::observe);
    }
};

// Pure. The most restrictive layer holds; between equals the lowest is named.
[[nodiscard]] Decision decide(const Policy& policy, const Attempt& attempt, WallTime now);

// Whether the name may be looked up at all: every layer has a rule that could allow or ask for a connection
// to it. Rules by address alone open names only when they hold for every address: else each name would be a
// channel (threats E-06).
[[nodiscard]] Decision decide_name(const Policy& policy, std::string_view name, WallTime now);

// Whether requests to this host are to be read: a secret is bound to it.
[[nodiscard]] bool wants_interception(const Policy& policy, std::string_view name, std::uint16_t port);
// Whether this is where git receives a push (gitprotocol-http(5)), whatever its method.
[[nodiscard]] bool is_push(const Request& request);
// Whether any connection at all may have to be read.
[[nodiscard]] bool may_read_requests(const Policy& policy);
// Some layer forbids to read what goes to this host.
[[nodiscard]] bool bypasses_interception(const Policy& policy, std::string_view name);

}  // namespace oyat::policy
