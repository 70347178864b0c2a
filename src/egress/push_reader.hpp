#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/fields.hpp"
#include "http/gzip.hpp"

namespace oyat::egress {

// Reads which refs a git push wants to change off the front of its body (gitprotocol-pack(5), "Reference
// Update Request"): commands as pkt-lines until the first flush; what follows, push options and objects,
// changes no other ref. Pure, and strict: what a server could take for another list is refused.
class PushReader {
public:
    static constexpr std::size_t kMaxBytes = 256 * 1024;  // of the list, unpacked
    static constexpr std::size_t kMaxRefs = 1024;

    // Refuses bodies in another encoding than gzip.
    [[nodiscard]] static Result<PushReader> of(const http::Fields& fields);

    // The next bytes of the body, as they were sent. True: the list is complete.
    [[nodiscard]] Result<bool> take(std::string_view bytes);

    // What is created, moved or deleted, in the order of the commands. Empty for the bare flush by which git
    // tries out whether it may send a long request.
    [[nodiscard]] const std::vector<std::string>& refs() const noexcept { return refs_; }

private:
    PushReader() = default;
    Result<bool> take_plain(std::string_view bytes);
    Result<void> take_line(std::string_view line);

    std::unique_ptr<http::Gunzip> gunzip_;
    std::string list_;      // as much of it as came
    std::size_t read_ = 0;  // of list_
    std::vector<std::string> refs_;
};

// Whether a server would take it for the full name of a ref (git-check-ref-format(1)).
[[nodiscard]] bool is_full_ref(std::string_view name);

}  // namespace oyat::egress
