#include "api/e2b/endpoint.hpp"

// Calls of the protocol that this release does not have. Each says so by name, so that nobody searches for a
// mistake of their own.
namespace oyat::e2b {
namespace {

[[noreturn]] void later(std::string_view what_is) {
    throw Error{Errc::unimplemented, std::string{what_is} + " not available in this release"};
}

// These are no coroutines: they throw when called.
Task<Reply> template_builds(ControlCall&) {
    later("building and changing templates over this API is");
}
Task<Reply> volumes(ControlCall&) {
    later("keeping volumes is");
}
Task<Reply> fork_extras(ControlCall&) {
    later("this extension of the protocol is");
}

Task<Reply> old_builds(ControlCall&) {
    co_return Reply::json(410, {{"code", 410},
                                {"message",
                                 "template builds by pushing an image have ended; clients of today build "
                                 "with POST /v3/templates"},
                                {"fault", "client"}});
}

constexpr Endpoint kEndpoints[] = {
    {"POST", "/v3/templates", Need::run, template_builds},
    {"POST", "/v2/templates", Need::run, template_builds},
    {"GET", "/templates/{id}/files/{hash}", Need::run, template_builds},
    {"POST", "/v2/templates/{id}/builds/{build}", Need::run, template_builds},
    {"GET", "/templates/{id}/builds/{build}/status", Need::look, template_builds},
    {"GET", "/templates/{id}/builds/{build}/logs", Need::look, template_builds},
    {"POST", "/templates/tags", Need::run, template_builds},
    {"DELETE", "/templates/tags", Need::run, template_builds},
    {"GET", "/templates/{id}/tags", Need::look, template_builds},
    {"PATCH", "/v2/templates/{id}", Need::run, template_builds},
    {"POST", "/templates", Need::run, old_builds},
    {"POST", "/templates/{id}/builds/{build}", Need::run, old_builds},

    {"GET", "/volumes", Need::look, volumes},
    {"POST", "/volumes", Need::run, volumes},
    {"GET", "/volumes/{id}", Need::look, volumes},
    {"PATCH", "/volumes/{id}", Need::run, volumes},
    {"DELETE", "/volumes/{id}", Need::run, volumes},
    {"GET", "/volumecontent/{id}/{what}", Need::look, volumes},
    {"POST", "/volumecontent/{id}/{what}", Need::run, volumes},
    {"PUT", "/volumecontent/{id}/{what}", Need::run, volumes},
    {"PATCH", "/volumecontent/{id}/{what}", Need::run, volumes},
    {"DELETE", "/volumecontent/{id}/{what}", Need::run, volumes},

    {"POST", "/sandboxes/{id}/clone", Need::run, fork_extras},
    {"POST", "/sandboxes/{id}/commit", Need::run, fork_extras},
    {"POST", "/sandboxes/{id}/reset", Need::run, fork_extras},
    {"POST", "/sandboxes/{id}/volume-mounts", Need::run, fork_extras},
    {"DELETE", "/sandboxes/{id}/volume-mounts", Need::run, fork_extras},
    {"POST", "/sandboxes/{id}/hotplug-memory", Need::run, fork_extras},
};

}  // namespace

std::span<const Endpoint> later_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
