#include "engine/gvisor/renewal.hpp"

#include <poll.h>
#include <sys/socket.h>

#include "base/throwing.hpp"
#include "engine/common/agent_line.hpp"

namespace oyat::gvisor {
namespace {

constexpr Millis kPatience{10'000};

}  // namespace

void renew(int listener, std::uint64_t generation, const std::string& id) {
    in("renew the agent", [&] {
        pollfd wait{listener, POLLIN, 0};
        if (sys(::poll(&wait, 1, static_cast<int>(kPatience.count())), "wait for the agent") == 0) {
            throw Error{Errc::deadline, Fault::engine, "the agent did not come in time"};
        }
        Fd connection{sys(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "meet it")};
        engine::AgentLine agent{std::move(connection), kPatience, [] {}};
        agent.greet();
        engine::renew(agent, generation, id);
    });
}

}  // namespace oyat::gvisor
