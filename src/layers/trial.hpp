#pragma once

#include "layers/store.hpp"

namespace oyat::layers {

// Makes a small box, lets an ordinary user write beyond its limit, and throws unless the kernel refused: what
// a store claims is believed only when it was seen. The box is removed again.
void hold_to_limit(Store& store);

}  // namespace oyat::layers
