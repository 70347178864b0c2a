#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "egress/explicit_proxy.hpp"
#include "egress/first_bytes.hpp"
#include "policy/names.hpp"
#include "policy/paths.hpp"

// What a program inside sends first: a hello, a request, words to the proxy. A verdict must not change when
// more bytes come, or it could be had with fewer; a name must be in its one spelling; a path must read alike
// a second time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat;
    using namespace oyat::egress;
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const FirstBytes whole = look_at(bytes);
    for (std::size_t part = 0; part < size && part < 256; ++part) {
        const FirstBytes early = look_at(bytes.substr(0, part));
        if (early.kind == FirstBytes::Kind::incomplete) continue;
        if (early.kind != whole.kind || early.name != whole.name) std::abort();
    }
    if (!whole.name.empty() && policy::canonical_host(whole.name) != whole.name) std::abort();
    const ConnectHead head = parse_connect(bytes);
    if (head.state == ConnectHead::State::done && (head.size > size || head.target.port == 0)) std::abort();
    if (const auto greeting = socks::parse_greeting(bytes); greeting.size > size) std::abort();
    if (const auto reply = socks::parse_reply(bytes); reply.size > size) std::abort();
    if (const auto request = socks::parse_request(bytes); request.size > size) std::abort();
    if (const auto target = policy::CanonicalTarget::of(bytes)) {
        const auto again = policy::CanonicalTarget::of(target->path);
        if (!again || again->path != target->path) std::abort();
    }
    return 0;
}
