#pragma once

#include <optional>
#include <string_view>

#include "packages/package.hpp"

// Packages that a name alone tells. Pure; the names are a sandbox's.
namespace oyat::packages {

// A file in a package manager's store: ".../registry/cache/INDEX/itoa-1.0.9.crate",
// ".../cache/download/golang.org/x/text/@v/v0.3.0.zip". Nothing for any other path.
[[nodiscard]] std::optional<Package> stored_artefact(std::string_view path);

// What a registry is asked for by this path, without the query: a wheel or a source archive, an npm tarball,
// a .deb, a crate, a Go module. Nothing for indexes and for what no registry of these asks for. The path of
// the package is empty.
[[nodiscard]] std::optional<Package> requested_artefact(std::string_view path);

}  // namespace oyat::packages
