#include "engine/microvm/cpio.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace oyat::microvm {
namespace {

constexpr std::size_t kAlignment = 4;

void append_number(std::string& out, std::uint32_t value) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", value);
    out.append(digits.data(), 8);
}

}  // namespace

void Cpio::pad() {
    while (bytes_.size() % kAlignment != 0) bytes_.push_back('\0');
}

void Cpio::add(std::string_view path, Mode mode, std::string_view content) {
    const std::uint32_t links = mode == Mode::directory ? 2 : 1;
    bytes_ += "070701";
    for (const std::uint32_t field : {next_inode_++, std::to_underlying(mode), 0U, 0U, links, 0U,
                                      static_cast<std::uint32_t>(content.size()), 0U, 0U, 0U, 0U,
                                      static_cast<std::uint32_t>(path.size() + 1), 0U}) {
        append_number(bytes_, field);
    }
    bytes_.append(path).push_back('\0');
    pad();
    bytes_.append(content);
    pad();
}

std::string Cpio::finish() {
    add("TRAILER!!!", Mode{0}, {});
    return std::move(bytes_);
}

}  // namespace oyat::microvm
