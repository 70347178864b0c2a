#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::e2b {

// Which file, and as whom: the query of a transfer.
struct TransferTarget {
    std::string path;  // "" when none is named
    std::string user;

    static Result<TransferTarget> of(std::string_view query);
};

}  // namespace oyat::e2b
