#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "io/condition.hpp"
#include "io/task.hpp"

namespace oyat::e2b {

// A client that sends an Idempotency-Key with a create, and sends it again because it never saw the answer,
// gets the sandbox that the first one made. Keys are kept in memory for a day, the latest 10,000; a create
// that failed leaves none.
class CreateOnce {
public:
    explicit CreateOnce(const Clock& clock) : clock_{clock} {}

    // Makes a sandbox and returns its id.
    using Make = std::function<Task<std::string>()>;

    // The id that `make` gave for this tenant's key, now or the first time. A second caller waits for the
    // first.
    Task<std::string> id_for(std::string tenant, std::string key, Make make);

private:
    struct Entry {
        std::string id;  // "" while it is being made
        MonoTime made{};
        Condition done;
    };
    void forget_old();

    const Clock& clock_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;  // shared with those who wait for it
};

// Whether the text can be a key: 1 to 255 lower-case letters, digits and hyphens.
[[nodiscard]] bool is_idempotency_key(std::string_view text);

}  // namespace oyat::e2b
