#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace oyat {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "{\"level\":\"fatal\",\"msg\":\"assertion failed: %s\",\"at\":\"%s:%d\"}\n", condition, file,
                 line);
    std::abort();
}

}  // namespace oyat
