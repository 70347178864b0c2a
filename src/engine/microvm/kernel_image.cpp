#include "engine/microvm/kernel_image.hpp"

#include <cstdint>

#include "engine/microvm/lz4.hpp"

// The header is described in the kernel's Documentation/arch/x86/boot.rst.
namespace oyat::microvm {
namespace {

constexpr std::size_t kSetupSectors = 0x1f1;
constexpr std::size_t kMagic = 0x202;
constexpr std::size_t kVersionText = 0x20e;  // offset of the text, less 0x200
constexpr std::size_t kPayloadOffset = 0x248;
constexpr std::size_t kPayloadLength = 0x24c;
constexpr std::size_t kHeaderEnd = 0x268;
constexpr std::size_t kSector = 512;
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20;

std::uint32_t number(std::string_view image, std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t n = bytes; n-- > 0;) value = value << 8 | static_cast<unsigned char>(image[at + n]);
    return value;
}

bool is_bzimage(std::string_view image) {
    return image.size() >= kHeaderEnd && image.substr(kMagic, 4) == "HdrS";
}

}  // namespace

Result<std::string> kernel_release(std::string_view bzimage) {
    if (!is_bzimage(bzimage)) return refuse(Errc::invalid_argument, "not a Linux kernel for x86");
    const std::size_t at = number(bzimage, kVersionText, 2) + 0x200;
    const std::string_view text = bzimage.substr(std::min(at, bzimage.size()), 64);
    const std::string_view release = text.substr(0, text.find_first_of(std::string_view{" \0", 2}));
    if (release.empty()) return refuse(Errc::invalid_argument, "a kernel without a version");
    return std::string{release};
}

Result<std::string> unpack_kernel(std::string_view bzimage) {
    if (!is_bzimage(bzimage)) return refuse(Errc::invalid_argument, "not a Linux kernel for x86");
    const auto setup = static_cast<unsigned char>(bzimage[kSetupSectors]);
    const std::size_t at = ((setup == 0 ? 4U : setup) + 1) * kSector + number(bzimage, kPayloadOffset, 4);
    const std::size_t length = number(bzimage, kPayloadLength, 4);
    if (at > bzimage.size() || length > bzimage.size() - at) {
        return refuse(Errc::invalid_argument, "a kernel that ends too early");
    }
    Result<std::string> kernel = unpack_lz4_legacy(bzimage.substr(at, length), kMostUnpacked);
    if (kernel && !kernel->starts_with("\177ELF")) {
        return refuse(Errc::invalid_argument, "a kernel whose payload is no ELF file");
    }
    return kernel;
}

}  // namespace oyat::microvm
