#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "http/gzip.hpp"

namespace oyat::e2b {

// The bytes of an upload, unpacked when the client sent them packed. Nothing is read ahead of what was asked
// for.
class UploadBody {
public:
    // Throws Error{invalid_argument} for an encoding other than gzip.
    explicit UploadBody(http::Exchange& exchange);

    // The next piece, "" at the end; valid until the next call.
    Task<std::string_view> next();

private:
    Task<std::string_view> next_raw();

    http::Exchange& exchange_;
    std::vector<char> piece_;
    std::optional<http::Gunzip> gunzip_;
    std::string unpacked_;
};

}  // namespace oyat::e2b
