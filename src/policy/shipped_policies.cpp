#include "policy/shipped.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::policy {
namespace {

// Whole ways out, chosen by one word. "custom" is the absence of one and stands for none.
constexpr ShippedPreset kPresets[] = {
    {"offline", R"({"default":"deny","rule":[{"id":"offline","action":"deny"}]})"},
    {"packages-only", R"({"default":"deny","rule":[
        {"id":"registries","category":"package-registries","action":"allow","host":["@registries"],
         "port":[80,443]}]})"},
    {"git-read-only", R"({"default":"deny","rule":[
        {"id":"git-read-only","category":"git","action":"allow","host":["@git-hosts"],
         "method":["GET","POST"],"path":["@git-read"]}]})"},
    // Mail is the commonest abuse of a rented machine, and no build needs it.
    {"public-web", R"({"default":"allow","rule":[
        {"id":"no-mail","category":"public-web","action":"deny","port":[25,465,587]}]})"},
    {"open", R"({"default":"allow"})"},
};

// Starting points, to be copied and edited.
constexpr ReadyPolicy kReady[] = {
    {"coding", "clone, install and test; read the public web; push nowhere",
     R"(# Clone, install and test; read the public web; push nowhere.
default = "deny"

[[rule]]
id = "registries"
category = "package-registries"
host = ["@registries"]
action = "allow"

[[rule]]
id = "clone"
category = "git"
host = ["@git-hosts"]
path = ["@git-read"]
action = "allow"

# Branches of your own: `path = ["/acme/shop.git/@git-write"]` and `ref = ["refs/heads/agent/**"]`, above
# the next rule.
[[rule]]
id = "push"
category = "git"
host = ["@git-hosts"]
path = ["@git-write"]
action = "deny"

# By name alone. With `method = ["GET", "HEAD"]` each of these hosts would be intercepted.
[[rule]]
id = "read-docs"
category = "public-web"
host = ["*"]
port = [443]
action = "observe"
up_bytes = "20MiB"
)"},
    {"browsing", "look at the public web, send nothing where requests are read",
     R"(# Look at the public web; where oyat reads the requests (plain HTTP, intercepted hosts), send nothing.
preset = "public-web"
write_methods = "deny"
)"},
    {"data", "one private service, nothing else",
     R"(# One private service, nothing else. Its address must be among the operator's reachable_private.
default = "deny"

[[rule]]
id = "orders"
category = "internal-apis"
host = ["orders.staging.internal"]
port = [8443]
method = ["GET"]
path = ["/v2/orders/**"]
require = "authority"
action = "allow"
)"},
    {"evaluation", "measured runs without a network", R"(# Measured runs: no network.
preset = "offline"
)"},
};

}  // namespace

std::span<const ShippedPreset> shipped_presets() {
    return kPresets;
}
std::span<const ReadyPolicy> ready_policies() {
    return kReady;
}

}  // namespace oyat::policy
