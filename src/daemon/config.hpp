#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/retention.hpp"
#include "auth/keys.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "core/make_sandboxes.hpp"
#include "core/masks.hpp"
#include "core/policies.hpp"
#include "daemon/options.hpp"
#include "egress/egress.hpp"
#include "io/address.hpp"

namespace oyat::daemon {

struct TlsListener {
    SocketAddress address;
    std::string certificate_pem;
    std::string key_pem;
};

// What the operator decides, from the file and the command line, checked and with everything read that only
// root may read. packaging/oyat.toml explains each setting.
struct Config {
    SocketAddress listen;
    std::optional<TlsListener> tls;
    std::string domain;
    log::Level log_level = log::Level::info;
    core::SandboxesConfig sandboxes;
    egress::EgressConfig egress;
    core::MaskingConfig masking;
    core::OperatorPolicy policy;
    auth::KeyRate key_rate;
    audit::Retention retention;
};

// Defaults, then the file, then the command line. Throws Error with the place of the mistake: a setting that
// is unknown or of the wrong kind is refused, since a misspelt limit would be none.
[[nodiscard]] Config read_config(const Options& options);
// The same from text, without a file: for tests.
[[nodiscard]] Config parse_config(std::string_view toml, const Options& options);

}  // namespace oyat::daemon
