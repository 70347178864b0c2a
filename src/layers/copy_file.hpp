#pragma once

namespace oyat::layers {

// Makes `to`, an empty regular file, the same as `from`: sharing its blocks where the file system can, else
// by copying what is not a hole. Both stay where they were read.
void copy_file(int from, int to);

}  // namespace oyat::layers
