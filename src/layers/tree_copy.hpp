#pragma once

namespace oyat::layers {

// Copies all that is below `from` into `to`, an empty directory, as it is: owners, modes, times, attributes
// (those of overlays included), devices (an overlay's marks of what was deleted), hard links, holes. Shares
// blocks where the file system can. Links are not followed; neither tree may change meanwhile. Root only.
void copy_tree(int from, int to);

}  // namespace oyat::layers
