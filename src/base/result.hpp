#pragma once

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace oyat {

// For the places where failure is an ordinary answer (parsers, policy checks, lookups):
// either a value or an Error, and the compiler complains when nobody looks.
template <class T>
using Result = std::expected<T, Error>;

// A refusal: return refuse(Errc::invalid_argument, "empty host in egress rule");
inline std::unexpected<Error> refuse(Errc code, std::string message) {
    return std::unexpected<Error>{std::in_place, code, std::move(message)};
}

}  // namespace oyat
