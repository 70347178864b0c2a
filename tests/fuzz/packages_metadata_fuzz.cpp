// What package managers leave in a sandbox, as any program inside may have written it, and the list that the
// child which reads it hands over. The first byte chooses which. Whatever is taken over is plain.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "packages/file_names.hpp"
#include "packages/listing.hpp"
#include "packages/metadata.hpp"

namespace {

using namespace oyat;

void check(const packages::NameAndVersion& known) {
    OYAT_ASSERT(packages::is_plain_name(known.name));
    OYAT_ASSERT(packages::is_plain_version(known.version));
}
void check(const packages::Package& package) {
    check(packages::NameAndVersion{.name = package.name, .version = package.version});
    OYAT_ASSERT(packages::is_plain_path(package.path));
}
template <class T>
void check(const std::optional<T>& found) {
    if (found) check(*found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    switch (data[0] % 6) {
        case 0: check(packages::read_python_metadata(text)); break;
        case 1: check(packages::read_npm_manifest(text)); break;
        case 2:
            packages::read_dpkg_status(text, [](const packages::NameAndVersion& known) { check(known); });
            break;
        case 3: check(packages::stored_artefact(text)); break;
        case 4: check(packages::requested_artefact(text)); break;
        default:
            if (const auto listing = packages::read_listing(text)) {
                for (const packages::Package& each : listing->packages) check(each);
                const auto again = packages::read_listing(packages::to_text(*listing));
                OYAT_ASSERT(again && again->packages == listing->packages);
            }
    }
    return 0;
}
