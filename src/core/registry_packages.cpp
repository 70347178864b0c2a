#include <vector>

#include "base/log.hpp"
#include "core/registry.hpp"
#include "io/timer.hpp"

// Sandboxes that may have got packages are looked through one after the other, so that those who install
// much can't keep the machine's disk busy.
namespace oyat::core {

Task<> Registry::restore_packages() {
    for (const StoredItem& item : co_await deps_.store.load_items("packages")) {
        if (const auto found = live_.find(item.key); found != live_.end()) {
            found->second->restore_packages(item.body);
        } else {
            co_await deps_.store.forget_item("packages", item.key);
        }
    }
}

Task<> Registry::keep_looking() {
    while (true) {
        co_await sleep_for(deps_.config.sample_every);
        co_await look_for_packages();
    }
}

Task<> Registry::look_for_packages() {
    std::vector<Live> due;
    for (const auto& [id, sandbox] : live_) {
        if (sandbox->packages_are_due()) due.push_back(sandbox);
    }
    for (const Live& sandbox : due) {
        try {
            co_await sandbox->look_for_packages();
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            log::debug("packages not looked for this time",
                       {{"sandbox", sandbox->record().id}, {"error", e.message()}});
        }
    }
}

}  // namespace oyat::core
