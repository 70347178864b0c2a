#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"

namespace oyat::e2b {

// The boundary of "multipart/form-data; boundary=...", nothing for other types or a bad boundary (RFC
// 2046, 5.1.1).
[[nodiscard]] std::optional<std::string> multipart_boundary(std::string_view content_type);

// One part's head.
struct PartHead {
    std::string name;
    std::optional<std::string> filename;  // as browsers escape it: %22, %0D and %0A mean what they say
};

// Cuts a multipart body, in whatever pieces it comes, into its parts. Pure. Holds at most one piece and a
// part's head of 16 KiB.
class MultipartReader {
public:
    explicit MultipartReader(std::string_view boundary) : delimiter_{"\r\n--" + std::string{boundary}} {}

    struct PartBegin {
        PartHead head;
    };
    struct PartData {
        std::string_view bytes;  // valid until the next call
    };
    struct PartEnd {};
    struct Finished {};   // what follows the last part is not looked at
    struct NeedsMore {};  // feed() more, or the body is cut off
    using Event = std::variant<NeedsMore, PartBegin, PartData, PartEnd, Finished>;

    void feed(std::string_view bytes);
    [[nodiscard]] Result<Event> next();

private:
    enum class State { preamble, after_delimiter, head, data, finished };
    [[nodiscard]] std::string_view rest() const { return std::string_view{buffer_}.substr(taken_); }
    [[nodiscard]] Result<Event> read_head();
    [[nodiscard]] Event read_data();

    std::string delimiter_;        // with the line break before it, which is not part of the data
    std::string buffer_ = "\r\n";  // so that a delimiter at the very start has its line break too
    std::size_t taken_ = 0;
    State state_ = State::preamble;
};

}  // namespace oyat::e2b
