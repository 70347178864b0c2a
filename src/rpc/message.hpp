#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::rpc {

// Parses one JSON object: depth at most 32, valid UTF-8, of two equal keys the last counts. The caller bounds
// the size.
[[nodiscard]] Result<boost::json::object> parse_object(std::string_view text);

// A message in proto3's JSON mapping, read field by field. Names are given in lowerCamelCase and found in
// snake_case too; unknown fields are not looked at. A field that is missing or null reads as its default. One
// of another type throws Error{invalid_argument} that names it. Looks into the object, which outlives it.
class Message {
public:
    explicit Message(const boost::json::object& object) : object_{&object} {}

    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    [[nodiscard]] std::size_t size() const noexcept { return object_->size(); }
    // As it is, for messages whose fields have the client's own names.
    [[nodiscard]] const boost::json::object& object() const noexcept { return *object_; }
    [[nodiscard]] std::string string(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> optional_string(std::string_view name) const;
    [[nodiscard]] bool boolean(std::string_view name, bool missing = false) const;
    [[nodiscard]] std::uint32_t uint32(std::string_view name) const;
    [[nodiscard]] std::string bytes(std::string_view name) const;  // from base64
    [[nodiscard]] std::vector<std::string> strings(std::string_view name) const;
    [[nodiscard]] std::vector<std::uint32_t> uint32s(std::string_view name) const;
    [[nodiscard]] std::map<std::string, std::string> string_map(std::string_view name) const;
    [[nodiscard]] std::optional<Message> message(std::string_view name) const;

    // The number of an enum's value, given as name or number. Unknown names throw, unknown numbers pass.
    struct EnumName {
        std::string_view name;
        int number;
    };
    [[nodiscard]] int enumeration(std::string_view name, std::initializer_list<EnumName> names) const;

private:
    [[nodiscard]] const boost::json::value* find(std::string_view name) const;  // null when missing or null
    const boost::json::object* object_;
};

}  // namespace oyat::rpc
