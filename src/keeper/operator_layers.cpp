#include "keeper/operator_layers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/throwing.hpp"

namespace oyat::keeper {

OperatorLayers::OperatorLayers(const std::string& dir) : dir_{dir} {
    if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) throw errno_error(errno, "make " + dir);
}

Fd OperatorLayers::layer_for(std::string_view template_digest, int image) {
    (void)template_digest;
    (void)image;
    return {};
}

}  // namespace oyat::keeper
