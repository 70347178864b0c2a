#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.hpp"

// What a client hears of a sandbox or port that does not answer: 502 and exact sentences, which clients
// compare to find out that a sandbox is gone. A browser gets a page.
namespace oyat::e2b {

Task<> answer_no_sandbox(http::Exchange& exchange, std::string sandbox);
Task<> answer_closed_port(http::Exchange& exchange, std::string sandbox, std::uint16_t port);
Task<> answer_refused(http::Exchange& exchange, std::string sandbox, int status, std::string sentence);
// 403: who asks is not one of those that the port is open to.
Task<> answer_not_admitted(http::Exchange& exchange, std::string sandbox, std::string_view reason);

}  // namespace oyat::e2b
