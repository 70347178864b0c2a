#pragma once

#include <string_view>

namespace oyat::gvisor {

// The pieces of a view, as descriptors; -1: not in it.
struct ViewPieces {
    int state = -1;    // /run/state: runsc's records of this sandbox
    int root = -1;     // /run/root: its root file system, an unattached mount, which is moved here
    int door = -1;     // /run/door, read-only
    int agent = -1;    // /run/agent, read-only
    int network = -1;  // /run/net: the namespace with the inner end of its veth
    int image = -1;    // /run/image: memory on disk
};

// Moves the calling process for good into a mount namespace whose /run holds these pieces and nothing else.
// runsc runs in there: it sees every sandbox at the same places, needs no way through the keeper's
// directories for those of its processes that are nobody on this host, and what it mounts ends with it.
void enter_run_view(const ViewPieces& pieces);

// What is written for it there: /run/bundle/config.json.
void write_bundle(std::string_view text);

}  // namespace oyat::gvisor
