#pragma once

#include <string>

#include "base/fd.hpp"

namespace oyat::layers {

// A directory of the host seen through a mount of our own that is nosuid, nodev and noatime, in the caller's
// mount namespace for as long as this lives.
class BoundView {
public:
    BoundView(int directory, std::string at);
    ~BoundView();
    BoundView(const BoundView&) = delete;
    BoundView& operator=(const BoundView&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return at_; }

private:
    std::string at_;
};

}  // namespace oyat::layers
