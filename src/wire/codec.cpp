#include "wire/codec.hpp"

namespace oyat::wire {
namespace {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kLengthDelimited = 2;
constexpr std::uint32_t kFixed32 = 5;

}  // namespace

void put_varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out += static_cast<char>(value | 0x80);
        value >>= 7;
    }
    out += static_cast<char>(value);
}

void put_tagged_varint(std::string& out, std::uint32_t field, std::uint64_t value) {
    put_varint(out, (static_cast<std::uint64_t>(field) << 3) | kVarint);
    put_varint(out, value);
}

void put_tagged_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
    put_varint(out, (static_cast<std::uint64_t>(field) << 3) | kLengthDelimited);
    put_varint(out, bytes.size());
    out.append(bytes);
}

bool FieldReader::varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (rest_.empty()) return false;
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        if (shift == 63 && byte > 1) return false;  // would not fit in 64 bits
        value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return true;
    }
    return false;
}

bool FieldReader::next() {
    // A loop, not a call of itself: a hostile message may hold nothing but fields to pass over.
    for (;;) {
        if (rest_.empty() || failed_) return false;
        failed_ = true;  // until the whole field has been read
        std::uint64_t tag = 0;
        if (!varint(tag) || (tag >> 3) == 0 || (tag >> 3) > 0x1FFF'FFFF) return false;
        field = static_cast<std::uint32_t>(tag >> 3);
        const auto type = static_cast<std::uint32_t>(tag & 7);
        if (!take_value(type)) return false;
        failed_ = false;
        if (type != kFixed64 && type != kFixed32) return true;
    }
}

bool FieldReader::take_value(std::uint32_t type) {
    number = 0;
    bytes = {};
    is_bytes = type == kLengthDelimited;
    switch (type) {
        case kVarint: return varint(number);
        case kLengthDelimited: {
            std::uint64_t length = 0;
            return varint(length) && take(length, bytes);
        }
        // No message of ours has such a field; it may come from a later version, so it is passed over.
        case kFixed64: return take(8, bytes);
        case kFixed32: return take(4, bytes);
        default: return false;
    }
}

bool FieldReader::take(std::uint64_t length, std::string_view& into) {
    if (length > rest_.size()) return false;
    into = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
}

}  // namespace oyat::wire
