#pragma once

#include <memory>
#include <string>

#include "api/e2b/services.hpp"
#include "http/exchange.hpp"

// Who comes through the agent's door of a sandbox, and how a sleeping sandbox is woken for them.
namespace oyat::e2b {

// Whoever holds a sandbox's token acts, in the record, for the key that the token was given to.
[[nodiscard]] core::Principal holder_of(const core::SandboxRecord& record, const http::RequestHead& head);

enum class Entry {
    open,      // needs no proof
    token,     // the exact token in X-Access-Token
    file_link  // the token, or a signature in the query
};

struct Admission {
    bool granted = false;
    std::string sentence;  // else: what to answer with 401
};

[[nodiscard]] Admission admit(const core::SandboxRecord& record, const http::RequestHead& head,
                              std::string_view query, Entry entry, WallTime now);

enum class Wakefulness {
    running,
    gone,     // ended, or paused and not to be woken by a request
    refused,  // could not be woken: see the error
};
struct Waking {
    Wakefulness state = Wakefulness::gone;
    std::string sentence;
    int status = 0;
};

// Makes a paused sandbox run that may be woken by a request; waits for one that is just being resumed.
Task<Waking> wake(Services& services, std::shared_ptr<core::Sandbox> sandbox, core::Principal who);

}  // namespace oyat::e2b
