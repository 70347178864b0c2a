#pragma once

#include <string>
#include <vector>

#include "api/e2b/control_plane.hpp"
#include "api/e2b/data_plane.hpp"
#include "api/e2b/link_lookup.hpp"
#include "api/e2b/services.hpp"
#include "http/front.hpp"

namespace oyat::e2b {

// Speaks the protocol of the E2B clients: the control plane's REST calls, the door of the agent in each
// sandbox, and the way to its other ports. docs/internals/e2b.md is its map.
class E2bFront final : public http::Front {
public:
    explicit E2bFront(Services services);

    // Whatever names a sandbox or a path of the control plane; and file links that only their signature
    // places.
    [[nodiscard]] bool handles(const http::RequestHead& head) const override;
    Task<> handle(http::Exchange& exchange) override;

    // The control plane's routes as "METHOD /pattern", for the tests that walk them.
    [[nodiscard]] std::vector<std::string> routes() const override { return control_.routes(); }

    // Ends what runs beside requests. To be awaited before destruction.
    Task<> close() { return data_.close(); }

private:
    Services services_;
    ControlPlane control_;
    DataPlane data_;
    LinkLookup links_;
};

}  // namespace oyat::e2b
