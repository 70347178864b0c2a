#pragma once

#include <span>
#include <string_view>

// The words that come with oyat. Data: what a registry is called changes more often than the program.
namespace oyat::policy {

struct ShippedSet {
    std::string_view name;
    std::span<const std::string_view> members;
};
struct ShippedPreset {
    std::string_view name, json;
};

[[nodiscard]] std::span<const ShippedSet> shipped_host_sets();
[[nodiscard]] std::span<const ShippedSet> shipped_path_sets();
[[nodiscard]] std::span<const ShippedPreset> shipped_presets();

}  // namespace oyat::policy
