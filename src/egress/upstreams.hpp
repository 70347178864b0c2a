#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "egress/dns_message.hpp"
#include "egress/resolver.hpp"
#include "egress/resolver_streams.hpp"
#include "io/task.hpp"

namespace oyat::egress {

struct UpstreamOptions {
    std::string resolv_conf = "/etc/resolv.conf";
    std::vector<Resolver> resolvers;  // set: these, and no resolv.conf is read
    std::string authorities_pem;      // for TLS: trusted beside the machine's own
    Millis try_limit{2000};
    int tries = 2;
    std::size_t max_open = 512;  // questions under way for all sandboxes, each with a socket of its own
};

// Asks the resolvers of the host, or those that the operator named. Only oyatd asks them, so they may have
// private addresses.
class Upstreams {
public:
    Upstreams(Executor executor, UpstreamOptions options);

    // Throws Error{unavailable, Fault::upstream} after all tries, Error{exhausted} when too much is under
    // way.
    Task<dns::Reply> ask(dns::Question question);
    // Half of what all sandboxes may ask at once is under way.
    [[nodiscard]] bool busy() const { return open_ >= options_.max_open / 2; }

private:
    void refresh();
    Task<dns::Reply> ask_one(Resolver resolver, dns::Question question);
    Task<dns::Reply> ask_by_datagram(Resolver resolver, dns::Question question);

    Executor executor_;
    UpstreamOptions options_;
    std::vector<Resolver> resolvers_;
    ResolverStreams streams_;
    struct ::timespec read_as_of_{};  // the file's time of change when it was read
    ino_t read_inode_ = 0;
    std::size_t open_ = 0;
};

}  // namespace oyat::egress
