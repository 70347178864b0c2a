#pragma once

#include <functional>
#include <memory>
#include <string>

#include "egress/names.hpp"
#include "io/acceptor.hpp"
#include "io/datagram.hpp"
#include "io/stream.hpp"

namespace oyat::egress {

// Answers every DNS question of one sandbox, to whichever server it was sent, over UDP and TCP.
class NameServer {
public:
    using Spawn = std::function<void(Task<>)>;
    // `spawn` starts a task whose owner keeps this object and all that it refers to alive.
    NameServer(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins,
               http::RequestTransform* transform, Spawn spawn, std::string sandbox, Fd udp, Fd tcp);

    Task<> run_datagrams();  // both run until close()
    Task<> run_streams();
    void close() noexcept;

    [[nodiscard]] Names& names() { return names_; }

private:
    Task<> answer_datagram(std::string question, SocketAddress to, std::optional<SocketAddress> from);
    Task<> serve_stream(Fd socket);
    Task<> serve_questions(Stream& stream);
    // The answer's bytes; nothing for bytes that are no question at all.
    Task<std::optional<std::string>> answer(std::string question, bool datagram);

    Shared& shared_;
    Report& report_;
    Spawn spawn_;
    Names names_;
    DatagramSocket udp_;
    Acceptor tcp_;
    std::size_t streams_ = 0;
};

}  // namespace oyat::egress
