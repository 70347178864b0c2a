#include "engine/microvm/memory_stream.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "base/throwing.hpp"

namespace oyat::microvm {
namespace {

using namespace std::string_literals;

constexpr std::uint64_t kMemory = 64 * 1024;

std::string be64(std::uint64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
    return bytes;
}
std::string name(const std::string& text) {
    return std::string(1, static_cast<char>(text.size())) + text;
}

const std::string kHead = "QEVM\0\0\0\3\7\0\0\0\7microvm"s + "\1\0\0\0\2\3ram\0\0\0\0\0\0\0\4"s;
const std::string kBlocks =
    be64((kMemory + 4096) | 4) + name("ram") + be64(kMemory) + name("bios") + be64(4096);
const std::string kEnd = be64(0x10);
const std::string kFooter = "\x7e\0\0\0\2"s;
const std::string kPart = "\2\0\0\0\2"s;
const std::string kLast = "\3\0\0\0\2"s;
const std::string kDevices = "\4 the devices\0"s;

struct Split {
    std::string state;
    std::map<std::uint64_t, std::string> pages;
};

// In pieces of `step` bytes, as a pipe may give them.
Split split(const std::string& stream, std::size_t step = 7) {
    Split out;
    std::size_t at = 0;
    split_memory(
        [&](char* into, std::size_t size) {
            const std::size_t count = std::min({size, step, stream.size() - at});
            std::memcpy(into, stream.data() + at, count);
            at += count;
            return count;
        },
        "ram", kMemory,
        {.state = [&](std::string_view bytes) { out.state += bytes; },
         .page = [&](std::uint64_t place, std::string_view bytes) { out.pages[place] = bytes; }});
    return out;
}

TEST(MemoryStream, PagesOfTheMemoryLeaveIt) {
    const std::string page(4096, 'p');
    const std::string bios(4096, 'b');
    const std::string stream = kHead + kBlocks + kEnd + kFooter + kPart + be64(0x08) + name("ram") + page +
                               be64(0x1000 | 0x22) + "\0"s + be64(0 | 0x08) + name("bios") + bios + kEnd +
                               kFooter + kLast + kEnd + kFooter + kDevices;
    const Split out = split(stream);
    EXPECT_EQ(out.pages, (std::map<std::uint64_t, std::string>{{0, page}}));
    EXPECT_EQ(out.state, kHead + kBlocks + kEnd + kFooter + kPart + be64(0x08) + name("bios") + bios + kEnd +
                             kFooter + kLast + kEnd + kFooter + kDevices);
}

// A record may lean on one that is gone.
TEST(MemoryStream, WhatStaysIsNamed) {
    const std::string stream = kHead + kBlocks + kEnd + kFooter + kLast + be64(0x02) + name("bios") + "\0"s +
                               be64(0x22) + "x"s + kEnd + kFooter;
    EXPECT_EQ(split(stream).state, kHead + kBlocks + kEnd + kFooter + kLast + be64(0x02) + name("bios") +
                                       "\0"s + be64(0x02) + name("bios") + "x"s + kEnd + kFooter);
}

TEST(MemoryStream, RefusesWhatItDoesNotKnow) {
    const std::string start = kHead + kBlocks + kEnd + kFooter + kLast;
    const std::map<const char*, std::string> streams{
        {"nothing", ""},
        {"no memory", std::string(100'000, 'x')},
        {"a page beyond the end", start + be64(kMemory | 0x08) + name("ram") + std::string(4096, 'p') + kEnd},
        {"compressed pages", start + be64(0x80) + name("ram")},
        {"another section in between", kHead + kBlocks + kEnd + kFooter + "\1\0\0\0\3"s},
        {"no footer", kHead + kBlocks + kEnd + kLast},
        {"a list of blocks that does not add up",
         kHead + be64(kMemory | 4) + name("ram") + be64(kMemory + 4096) + kEnd + kFooter},
        {"cut in a page", start + be64(0x08) + name("ram") + std::string(100, 'p')},
    };
    for (const auto& [what, stream] : streams) EXPECT_THROW(split(stream, 4096), Error) << what;
}

}  // namespace
}  // namespace oyat::microvm
