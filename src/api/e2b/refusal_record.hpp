#pragma once

#include <string>
#include <string_view>

#include "api/e2b/services.hpp"
#include "http/exchange.hpp"

// What the record keeps of requests that came to nothing, so that the id shown to the client leads somewhere.
namespace oyat::e2b {

// Adds to a principal what the request says of its client.
void complete_principal(core::Principal& who, const http::RequestHead& head);

// Emits auth.failed and returns its id. Guessers are told to wait after a few failures (auth), and that is
// not recorded any more: returns "" then.
[[nodiscard]] std::string record_failed_login(Services& services, const http::RequestHead& head,
                                              const Error& error);

// Emits request.refused for an error that no event stands for yet, and gives it back with the id. `route` is
// a pattern, never a path with a client's words in it.
[[nodiscard]] Error record_refusal(Services& services, const core::Principal& who, std::string_view route,
                                   int status, Error error, std::string sandbox = {});

}  // namespace oyat::e2b
