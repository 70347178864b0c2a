#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

// Protobuf's wire encoding (varints and length-delimited fields), written and read by hand: a static program
// with protobuf's own runtime alone would be 1.8 MB. Shapes of fields:
//
//   bool, unsigned integers, enums   varint
//   signed integers                  varint, zigzag (sint64)
//   string, nested message           length-delimited
//   vector<T>                        the field repeated, never packed
//   map<string,string>               repeated message {1: key, 2: value}
//   optional<T>                      absent or present; all other fields are left out when zero or empty
//
// A message is a struct with `template <class V> void fields(V& v)` that names each member once:
// `v(1, pid); v(2, argv);`. Members start as zero or empty, since that is what an absent field reads as. Unknown fields are skipped, so that versions may differ. Everything that is read
// is hostile: lengths are checked before use, depth is at most 16 (threats D-30), and a repeated field holds at
// most 65,536 elements. The bytes of a whole message are bounded by the frame that carries it.
namespace oyat::wire {

inline constexpr int kMaxDepth = 16;
inline constexpr std::size_t kMaxRepeated = 65'536;

// --- primitives -------------------------------------------------------------------------------------------

void put_varint(std::string& out, std::uint64_t value);
void put_tagged_varint(std::string& out, std::uint32_t field, std::uint64_t value);
void put_tagged_bytes(std::string& out, std::uint32_t field, std::string_view bytes);

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t n) {
    return (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t n) {
    return static_cast<std::int64_t>(n >> 1) ^ -static_cast<std::int64_t>(n & 1);
}

// Walks the fields of one message. After next() says true, `field`, `type` and either `number` or `bytes` hold.
class FieldReader {
public:
    explicit FieldReader(std::string_view message) : rest_{message} {}

    bool next();
    [[nodiscard]] bool failed() const { return failed_; }

    std::uint32_t field = 0;
    std::uint64_t number = 0;
    std::string_view bytes;
    bool is_bytes = false;

private:
    bool varint(std::uint64_t& value);
    bool take_value(std::uint32_t type);
    bool take(std::uint64_t length, std::string_view& into);

    std::string_view rest_;
    bool failed_ = false;
};

template <class T>
Result<T> decode(std::string_view bytes, int depth = 0);
template <class T>
std::string encode(const T& message);

namespace detail {

template <class T>
concept Message = requires(T& t, struct Nothing& v) { T::kIsMessage; };

struct Encoder {
    std::string& out;

    void operator()(std::uint32_t f, const bool& v) { if (v) put_tagged_varint(out, f, 1); }
    template <std::unsigned_integral T>
        requires(!std::same_as<T, bool>)
    void operator()(std::uint32_t f, const T& v) { if (v != 0) put_tagged_varint(out, f, v); }
    template <std::signed_integral T>
    void operator()(std::uint32_t f, const T& v) { if (v != 0) put_tagged_varint(out, f, zigzag(v)); }
    template <class T>
        requires std::is_enum_v<T>
    void operator()(std::uint32_t f, const T& v) {
        if (static_cast<std::uint64_t>(v) != 0) put_tagged_varint(out, f, static_cast<std::uint64_t>(v));
    }
    void operator()(std::uint32_t f, const std::string& v) { if (!v.empty()) put_tagged_bytes(out, f, v); }
    template <Message T>
    void operator()(std::uint32_t f, const T& v) { put_tagged_bytes(out, f, encode(v)); }
    template <class T>
    void operator()(std::uint32_t f, const std::optional<T>& v) { if (v) always(f, *v); }
    template <class T>
    void operator()(std::uint32_t f, const std::vector<T>& v) { for (const T& each : v) always(f, each); }
    void operator()(std::uint32_t f, const std::map<std::string, std::string>& v) {
        for (const auto& [key, value] : v) {
            std::string entry;
            put_tagged_bytes(entry, 1, key);
            put_tagged_bytes(entry, 2, value);
            put_tagged_bytes(out, f, entry);
        }
    }

private:
    template <class T>
    void always(std::uint32_t f, const T& v) {
        if constexpr (std::same_as<T, std::string>) put_tagged_bytes(out, f, v);
        else if constexpr (Message<T>) put_tagged_bytes(out, f, encode(v));
        else if constexpr (std::signed_integral<T>) put_tagged_varint(out, f, zigzag(v));
        else put_tagged_varint(out, f, static_cast<std::uint64_t>(v));
    }
};

// Offers the field that `reader` stands on to each member in turn; the one with the same number takes it.
struct Decoder {
    const FieldReader& reader;
    int depth;
    bool ok = true;

    template <class T>
    void operator()(std::uint32_t f, T& member) { if (f == reader.field && ok) ok = take(member); }

private:
    bool take(bool& v) { v = reader.number != 0; return !reader.is_bytes; }
    template <std::unsigned_integral T>
        requires(!std::same_as<T, bool>)
    bool take(T& v) { v = static_cast<T>(reader.number); return !reader.is_bytes && v == reader.number; }
    template <std::signed_integral T>
    bool take(T& v) {
        const std::int64_t n = unzigzag(reader.number);
        v = static_cast<T>(n);
        return !reader.is_bytes && v == n;
    }
    template <class T>
        requires std::is_enum_v<T>
    bool take(T& v) { v = static_cast<T>(reader.number); return !reader.is_bytes && reader.number < 256; }
    bool take(std::string& v) { v.assign(reader.bytes); return reader.is_bytes; }
    template <Message T>
    bool take(T& v) {
        if (!reader.is_bytes) return false;
        Result<T> inner = decode<T>(reader.bytes, depth + 1);
        if (!inner) return false;
        v = *std::move(inner);
        return true;
    }
    template <class T>
    bool take(std::optional<T>& v) { return take(v.emplace()); }
    template <class T>
    bool take(std::vector<T>& v) {
        if (v.size() >= kMaxRepeated) return false;
        return take(v.emplace_back());
    }
    bool take(std::map<std::string, std::string>& v) {
        if (!reader.is_bytes || v.size() >= kMaxRepeated) return false;
        FieldReader entry{reader.bytes};
        std::string key;
        std::string value;
        while (entry.next()) {
            if (entry.is_bytes && entry.field == 1) key.assign(entry.bytes);
            if (entry.is_bytes && entry.field == 2) value.assign(entry.bytes);
        }
        v.insert_or_assign(std::move(key), std::move(value));
        return !entry.failed();
    }
};

}  // namespace detail

template <class T>
std::string encode(const T& message) {
    std::string out;
    detail::Encoder encoder{out};
    const_cast<T&>(message).fields(encoder);  // fields() only reads when the visitor is an Encoder
    return out;
}

template <class T>
Result<T> decode(std::string_view bytes, int depth) {
    if (depth > kMaxDepth) return refuse(Errc::invalid_argument, "message nested too deep");
    T message{};
    FieldReader reader{bytes};
    while (reader.next()) {
        detail::Decoder decoder{reader, depth};
        message.fields(decoder);
        if (!decoder.ok) {
            return refuse(Errc::invalid_argument, "bad value in field " + std::to_string(reader.field));
        }
    }
    if (reader.failed()) return refuse(Errc::invalid_argument, "truncated or malformed message");
    return message;
}

}  // namespace oyat::wire
