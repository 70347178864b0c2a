#include "core/event.hpp"

namespace oyat::core {

std::string_view to_string(Witness witness) noexcept {
    switch (witness) {
        case Witness::host: return "host";
        case Witness::proxy: return "proxy";
        case Witness::api: return "api";
        case Witness::agent: return "agent";
    }
    return "host";
}

bool EventFilter::matches(const Event& event) const {
    return (tenant.empty() || event.tenant == tenant) && (sandbox.empty() || event.sandbox == sandbox) &&
           event.type.starts_with(type_prefix);
}

}  // namespace oyat::core
