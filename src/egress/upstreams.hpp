#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "egress/dns_message.hpp"
#include "io/address.hpp"
#include "io/task.hpp"

namespace oyat::egress {

// The name servers of a resolv.conf(5), in order, at most three. None listed means 127.0.0.1, as the C
// library has it.
[[nodiscard]] std::vector<SocketAddress> parse_resolv_conf(std::string_view text);

struct UpstreamOptions {
    std::string resolv_conf = "/etc/resolv.conf";
    std::vector<SocketAddress> servers;  // set: these, and no resolv.conf is read
    Millis try_limit{2000};
    int tries = 2;
    std::size_t max_open = 512;  // questions under way for all sandboxes, each with a socket of its own
};

// Asks the resolvers of the host. Only oyatd asks them, so they may have private addresses.
class Upstreams {
public:
    Upstreams(Executor executor, UpstreamOptions options);

    // Throws Error{unavailable, Fault::upstream} after all tries, Error{exhausted} when too much is under
    // way.
    Task<dns::Reply> ask(dns::Question question);

private:
    void refresh();
    Task<dns::Reply> ask_one(SocketAddress server, dns::Question question);
    Task<dns::Reply> ask_by_datagram(SocketAddress server, dns::Question question);
    Task<dns::Reply> ask_by_stream(SocketAddress server, dns::Question question);

    Executor executor_;
    UpstreamOptions options_;
    std::vector<SocketAddress> servers_;
    struct ::timespec read_as_of_{};  // the file's time of change when it was read
    ino_t read_inode_ = 0;
    std::size_t open_ = 0;
};

}  // namespace oyat::egress
