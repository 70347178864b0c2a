#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace oyat::microvm {

// Writes an archive in the format that the kernel unpacks into its first root: cpio "newc" (the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst). All files are root's and without a time, so
// that the same content is the same archive.
class Cpio {
public:
    enum class Mode : std::uint32_t { file = 0100644, program = 0100755, directory = 0040755 };

    // Parents come before what lies in them.
    void add(std::string_view path, Mode mode, std::string_view content);
    // The archive whole; the object is of no use afterwards.
    [[nodiscard]] std::string finish();

private:
    void pad();

    std::string bytes_;
    std::uint32_t next_inode_ = 1;
};

}  // namespace oyat::microvm
