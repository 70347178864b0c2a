#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "api/e2b/settings.hpp"
#include "core/sandbox.hpp"

// The shapes in which the control plane shows a sandbox.
namespace oyat::e2b {

// The template's id: its name as it was asked for, without the tag; its digest when that was asked for.
[[nodiscard]] std::string template_id(const core::SandboxRecord& record);

// "Sandbox": the answer to create, connect and resume. Holds the token; goes only to who may run.
[[nodiscard]] boost::json::object connection_view(const core::SandboxRecord& record,
                                                  const Settings& settings);

// "ListedSandbox".
[[nodiscard]] boost::json::object listed_view(const core::SandboxRecord& record);

// "SandboxDetail"; with the token only for who may run.
[[nodiscard]] boost::json::object detail_view(const core::Sandbox& sandbox, const Settings& settings,
                                              bool with_token);

// "SandboxMetric".
[[nodiscard]] boost::json::object metric_view(const core::SandboxRecord& record,
                                              const core::UsageSample& sample);

}  // namespace oyat::e2b
