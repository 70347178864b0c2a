#include "keeperlink/package_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/throwing.hpp"
#include "packages/listing.hpp"

namespace oyat::keeperlink {

PackageFile::PackageFile()
    : file_{sys(::memfd_create("packages", MFD_CLOEXEC | MFD_ALLOW_SEALING), "make a file in memory")} {
    sys(::ftruncate(file_.get(), packages::Listing::kMaxBytes), "size a file in memory");
    sys(::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL), "seal a file");
}

Fd PackageFile::for_the_keeper() const {
    return Fd{sys(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0), "copy a descriptor")};
}

std::string PackageFile::text(std::uint64_t bytes) const {
    std::string text(std::min<std::uint64_t>(bytes, packages::Listing::kMaxBytes), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t n =
            sys(::pread(file_.get(), text.data() + got, text.size() - got, static_cast<off_t>(got)),
                "read the list of packages");
        if (n == 0) break;
        got += static_cast<std::size_t>(n);
    }
    text.resize(got);
    return text;
}

}  // namespace oyat::keeperlink
