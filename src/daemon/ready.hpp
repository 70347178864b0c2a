#pragma once

#include <string>

namespace oyat::daemon {

// Tells whoever started us that clients can connect: a line with the URL to the descriptor (-1: none) and to
// the file
// ("": none; 0600, made by renaming), and READY=1 to systemd when it asked for it.
void announce_ready(int descriptor, const std::string& file, const std::string& url);

}  // namespace oyat::daemon
