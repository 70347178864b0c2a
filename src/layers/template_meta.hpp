#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::layers {

// What is known of a template: its meta.json, and a name.
struct TemplateMeta {
    std::string digest;  // "sha256:<64 hex>"
    std::string name;    // one that stands for it now, or none; not part of meta.json
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;  // of regular files
    std::int64_t created_ms = 0;
};

[[nodiscard]] bool is_template_name(std::string_view text) noexcept;
[[nodiscard]] bool is_digest(std::string_view text) noexcept;

[[nodiscard]] std::string to_json(const TemplateMeta& meta);
[[nodiscard]] Result<TemplateMeta> parse_template_meta(std::string_view json);

}  // namespace oyat::layers
