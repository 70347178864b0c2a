#pragma once

#include <string>
#include <string_view>

#include "http/fields.hpp"

// Putting a value in the place of a placeholder inside a query or a body, in the writing of that place;
// everything around it stays as the client wrote it. Pure.
namespace oyat::secrets {

void replace_all(std::string& text, std::string_view what, std::string_view with);

// Parameters of that name, decoded.
[[nodiscard]] bool query_parameter_holds(std::string_view target, std::string_view name,
                                         std::string_view placeholder);
void replace_in_query(std::string& target, std::string_view name, std::string_view placeholder,
                      std::string_view value);

enum class BodyKind { json, form, other };
[[nodiscard]] BodyKind body_kind(const http::Fields& fields);  // `other` also for a body that is compressed

// JSON: the string member of that name of the object. A placeholder that stands in any other place, too, or
// in another writing is not replaced: false.
[[nodiscard]] bool body_member_holds(BodyKind kind, std::string_view body, std::string_view member,
                                     std::string_view placeholder);
[[nodiscard]] std::string replace_in_body(BodyKind kind, std::string_view body, std::string_view member,
                                          std::string_view placeholder, std::string_view value);

}  // namespace oyat::secrets
