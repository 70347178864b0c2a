#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

// Base64 as proto3's JSON mapping has it (RFC 4648): written in the standard alphabet with padding, read in
// either alphabet, padded or not.
namespace oyat::rpc {

void append_base64(std::string& out, std::string_view bytes);
[[nodiscard]] Result<std::string> decode_base64(std::string_view text);

}  // namespace oyat::rpc
