#include "egress/registered_domain.hpp"

#include <libpsl.h>

#include <memory>

namespace oyat::egress {
namespace {

// Debian's list where it is newer than the one in the library. Read once: it is the same for all sandboxes.
const psl_ctx_t* suffixes() {
    static const std::unique_ptr<psl_ctx_t, decltype(&::psl_free)> list{::psl_latest(nullptr), ::psl_free};
    return list.get();
}

std::string last_two_labels(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0) return name;
    const std::size_t before = name.rfind('.', dot - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

}  // namespace

std::string registered_domain(const std::string& name) {
    if (suffixes() != nullptr) {
        if (const char* domain = ::psl_registrable_domain(suffixes(), name.c_str())) return domain;
    }
    return last_two_labels(name);
}

}  // namespace oyat::egress
