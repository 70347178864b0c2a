#pragma once

namespace oyat::agent {

// lo, and eth0 as 10.254.0.2/30 with the gateway 10.254.0.1: the same in every machine, since each is alone
// in a network of its own. A machine without a network card has lo only.
void set_up_network();

}  // namespace oyat::agent
