#pragma once

#include <memory>

#include "http/byte_buffer.hpp"
#include "io/stream.hpp"

namespace oyat::http {

// A stream whose first bytes were read too early: they come first.
[[nodiscard]] std::unique_ptr<Stream> with_prefix(ByteBuffer prefix, std::unique_ptr<Stream> stream);

}  // namespace oyat::http
