#pragma once

#include <string>

#include "http/exchange.hpp"

namespace oyat::http {

// Exchange::read_whole_body() for those who have a read_body().
Task<std::string> whole_body(Exchange& exchange, std::size_t limit);

}  // namespace oyat::http
