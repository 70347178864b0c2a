#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/codec.hpp"

// What oyatd and the keeper say about templates. Part of keeper_messages.hpp, which says how they travel.
namespace oyat::wire {

struct TemplateInfo {
    static constexpr bool kIsMessage = true;
    std::string digest;
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    std::int64_t created_ms = 0;
    template <class V>
    void fields(V& v) {
        v(1, digest);
        v(2, name);
        v(3, bytes);
        v(4, files);
        v(5, created_ms);
    }
};
struct ListTemplates {
    static constexpr bool kIsMessage = true;
    bool reserved = false;
    template <class V>
    void fields(V& v) {
        v(1, reserved);
    }
};
struct TemplateList {
    static constexpr bool kIsMessage = true;
    std::vector<TemplateInfo> templates;
    template <class V>
    void fields(V& v) {
        v(1, templates);
    }
};
// Request fd [0]: a tar, optionally zstd, of the root tree. Unpacked by a child in its own root; the digest
// must fit `digest` when that is set. Progress by KeeperEvent. Reply: TemplateInfo.
struct ImportTemplate {
    static constexpr bool kIsMessage = true;
    std::string name;
    std::string digest;
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, digest);
    }
};
// Request fd [0]: where the tar.zst is written. Reply: TemplateInfo.
struct ExportTemplate {
    static constexpr bool kIsMessage = true;
    std::string digest;
    template <class V>
    void fields(V& v) {
        v(1, digest);
    }
};
struct RemoveTemplate {
    static constexpr bool kIsMessage = true;
    std::string digest;
    template <class V>
    void fields(V& v) {
        v(1, digest);
    }
};

}  // namespace oyat::wire
