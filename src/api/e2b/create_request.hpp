#pragma once

#include <boost/json/object.hpp>

#include "api/e2b/settings.hpp"
#include "base/result.hpp"
#include "core/sandbox.hpp"

namespace oyat::e2b {

// The two forms of "create": the older one has `secure` and another default life.
enum class CreateForm { v1, v2 };

// What a create request asks for, checked. An option that this release does not have is refused by its name,
// never passed over; fields that we do not know are (clients send new ones to old servers).
[[nodiscard]] Result<core::CreateRequest> read_create_request(const boost::json::object& body,
                                                              CreateForm form, const Settings& settings);

// A life in seconds from a request, `missing` without one. Refuses what is no whole number, negative, or
// longer than a run may be.
[[nodiscard]] Result<Millis> read_timeout(const boost::json::object& body, std::string_view name,
                                          std::chrono::seconds missing, const Settings& settings);

}  // namespace oyat::e2b
