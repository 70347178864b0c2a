#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "io/ip_address.hpp"

namespace oyat::egress {

// Which names one sandbox was given an address for. Never shared between sandboxes: what one looked up says
// nothing of another (threats R-10). A pin outlives its DNS lifetime by a minute, since programs connect
// late.
class Pins {
public:
    static constexpr std::size_t kMax = 4096;

    void pin(const IpAddress& address, const std::string& name, std::chrono::seconds ttl, MonoTime now);
    // The name that was looked up last, or "".
    [[nodiscard]] std::string name_of(const IpAddress& address, MonoTime now) const;
    // All that it stands for now, the one looked up last at the end.
    [[nodiscard]] std::vector<std::string> names_of(const IpAddress& address, MonoTime now) const;
    // Where a name leads now, in no order.
    [[nodiscard]] std::vector<IpAddress> addresses_of(std::string_view name, MonoTime now) const;
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Pin {
        std::string name;
        MonoTime until;
    };
    void make_room(MonoTime now);

    std::map<IpAddress, std::vector<Pin>> by_address_;  // the pin used last stands last
    std::size_t size_ = 0;
};

}  // namespace oyat::egress
