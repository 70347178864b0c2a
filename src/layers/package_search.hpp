#pragma once

#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "layers/job.hpp"

namespace oyat::layers {

// Looks through the changed files of a living sandbox for packages, in a child that has them as its whole
// world (confine.hpp): what is in there was written by programs of the sandbox. The list
// (packages/listing.hpp) is written to the beginning of `into`, a file of fixed size. Outcome: `bytes` of the
// list; nothing else of the meta is set.
[[nodiscard]] std::unique_ptr<Job> search_packages(Fd box, std::vector<Fd> template_layers, Fd into);

}  // namespace oyat::layers
