// What an operator writes as a resolver, and what stands in resolv.conf(5), which other programs of the
// machine write. Besides not crashing: what is taken can be written down and taken again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "egress/resolver.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat::egress;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto listed = parse_resolv_conf(text);
    OYAT_ASSERT(!listed.empty() && listed.size() <= 3);
    if (const auto resolver = Resolver::parse(text)) {
        OYAT_ASSERT(resolver->address.port() != 0);
        OYAT_ASSERT(resolver->is_tls() == !resolver->name.empty());
        OYAT_ASSERT(Resolver::parse(resolver->address.to_string()).has_value());
    }
    return 0;
}
