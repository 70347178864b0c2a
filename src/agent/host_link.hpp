#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "agent/connection.hpp"
#include "agent/door.hpp"
#include "agent/loop.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// The connection of the host, and what it is greeted with. One host at a time: a new connection is greeted,
// then the old one is closed, so a host that came back never waits for its own corpse.
class HostLink final : public ConnectionOwner {
public:
    HostLink(Loop& loop, RequestHandler& handler, std::uint64_t generation)
        : loop_{loop}, handler_{handler}, generation_{generation} {}

    // Before anything else: the door that connections come from.
    void open(std::unique_ptr<Door> door) { door_ = std::move(door); }
    [[nodiscard]] const Door& door() const { return *door_; }

    // What the next HELLO says.
    void set_configured() { configured_ = true; }
    void set_generation(std::uint64_t generation) { generation_ = generation; }
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

    // A checkpoint may be taken: the next host comes after it.
    void set_stands_still(bool stands_still) { stands_still_ = stands_still; }
    [[nodiscard]] bool stands_still() const { return stands_still_; }

    // From the door.
    enum class Greeting { now, when_asked };
    void meet(Fd connection, Greeting greeting = Greeting::now);
    void drop() { current_.reset(); }

    void knocked(Connection& connection, std::uint64_t number) override { greet(connection, number); }
    void broken() override;
    [[nodiscard]] bool stream_goes_on() const override { return !door_->hangs_up(); }

private:
    void greet(Connection& connection, std::uint64_t echo) const;

    Loop& loop_;
    RequestHandler& handler_;
    std::uint64_t generation_;
    bool configured_ = false;
    bool stands_still_ = false;
    std::unique_ptr<Connection> current_;
    std::unique_ptr<Door> door_;
};

}  // namespace oyat::agent
