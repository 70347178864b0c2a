#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oyat::http {

// Header fields in the order they came. Names compare without regard to case (RFC 9110, 5.1).
class Fields {
public:
    Fields() = default;
    Fields(std::initializer_list<std::pair<std::string, std::string>> list) : list_{list} {}

    void add(std::string name, std::string value) { list_.emplace_back(std::move(name), std::move(value)); }
    void set(std::string_view name, std::string value);  // replaces all of that name
    void remove(std::string_view name);

    // The first value of that name, or "" when there is none.
    [[nodiscard]] std::string_view get(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::size_t count(std::string_view name) const;
    // True when the comma-separated list in any field of that name has `token` (RFC 9110, 5.6.1).
    [[nodiscard]] bool has_token(std::string_view name, std::string_view token) const;

    [[nodiscard]] auto begin() const { return list_.begin(); }
    [[nodiscard]] auto end() const { return list_.end(); }
    [[nodiscard]] std::size_t size() const { return list_.size(); }

private:
    std::vector<std::pair<std::string, std::string>> list_;
};

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace oyat::http
