#include "policy/idna.hpp"

#include <idn2.h>

#include <algorithm>

#include "base/defer.hpp"

namespace oyat::policy {

Result<std::string> to_a_labels(std::string_view name) {
    const bool ascii = std::ranges::all_of(name, [](unsigned char c) { return c < 0x80; });
    if (ascii) return std::string{name};
    // The library reads up to a NUL, where the name would seem to end.
    if (name.find('\0') != std::string_view::npos)
        return refuse(Errc::invalid_argument, "a name holds a NUL");
    char* converted = nullptr;
    const int status = ::idn2_to_ascii_8z(std::string{name}.c_str(), &converted,
                                          IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_USE_STD3_ASCII_RULES);
    const Defer free{[&] { ::idn2_free(converted); }};
    if (status != IDN2_OK) {
        return refuse(Errc::invalid_argument,
                      "'" + std::string{name} + "' is no international name: " + ::idn2_strerror(status));
    }
    return std::string{converted};
}

}  // namespace oyat::policy
