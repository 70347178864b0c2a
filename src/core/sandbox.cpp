#include "core/sandbox.hpp"

namespace oyat::core {

std::string own_sandbox(const Sandboxes& sandboxes, const std::string& id, const std::string& tenant) {
    const std::shared_ptr<Sandbox> living = sandboxes.find_any(id);
    const bool own = living ? living->record().tenant == tenant : sandboxes.ended(id, tenant).has_value();
    return own ? id : std::string{};
}

}  // namespace oyat::core
