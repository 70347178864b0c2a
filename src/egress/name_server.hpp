#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/egress_control.hpp"
#include "egress/pins.hpp"
#include "egress/report.hpp"
#include "egress/shared.hpp"
#include "egress/token_bucket.hpp"
#include "io/acceptor.hpp"
#include "io/datagram.hpp"
#include "io/stream.hpp"

namespace oyat::egress {

// Answers every DNS question of one sandbox, to whichever server it was sent, over UDP and TCP.
class NameServer {
public:
    using Spawn = std::function<void(Task<>)>;
    // `spawn` starts a task whose owner keeps this object and all that it refers to alive.
    NameServer(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins, Spawn spawn,
               std::string sandbox, Fd udp, Fd tcp);

    Task<> run_datagrams();  // both run until close()
    Task<> run_streams();
    void close() noexcept;
    // Asks for a name's addresses as if the sandbox had, so that those that it may know are pinned.
    Task<> look_up(std::string name);

private:
    Task<> answer_datagram(std::string question, SocketAddress to, std::optional<SocketAddress> from);
    Task<> serve_stream(Fd socket);
    Task<> serve_questions(Stream& stream);
    // The answer's bytes; nothing for bytes that are no question at all.
    Task<std::optional<std::string>> answer(std::string question, bool datagram);
    Task<dns::Answer> resolve(dns::Query query, std::string name);
    dns::Answer deny(const dns::Query& query, const std::string& name, std::string_view reason,
                     dns::Rcode rcode);

    Shared& shared_;
    const core::PolicyPtr& policy_;  // the one in force, which changes
    Report& report_;
    Pins& pins_;
    Spawn spawn_;
    std::string sandbox_;
    DatagramSocket udp_;
    Acceptor tcp_;
    TokenBucket rate_;
    std::size_t under_way_ = 0;
    std::size_t streams_ = 0;
};

}  // namespace oyat::egress
