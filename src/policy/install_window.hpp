#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "policy/policy.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::policy {

// The id of the rule by which a window refuses.
inline constexpr std::string_view kInstallWindowRule = "install-window";

// What holds besides the layers while packages are installed: package registries and nothing else. Which
// hosts are registries is told by the shipped set, the operator's mirrors, and rules of that category in
// layers not below the uppermost one that wants the window: who is below may not widen it. Nothing when no
// layer wants it.
[[nodiscard]] std::optional<LayerDocument> install_window(std::span<const LayerDocument> layers,
                                                          const Vocabulary& words);

}  // namespace oyat::policy
