#include "egress/dns_message.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace oyat::egress::dns {
namespace {

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxLabel = 63;
constexpr int kMaxJumps = 32;  // compression pointers within one name
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kReplyFlag = 0x8000, kTruncatedFlag = 0x0200, kRecursionDesired = 0x0100,
                        kRecursionAvailable = 0x0080;
constexpr std::uint16_t kOurPayload = 1232;   // what crosses every path unfragmented
constexpr std::uint16_t kExtendedError = 15;  // the option of RFC 8914
constexpr std::size_t kMaxReason = 64;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// Reads forward through one message. After the first thing that does not fit, ok() is false and all further
// reads give zeros.
class Reader {
public:
    explicit Reader(std::string_view message) : message_{message} {}

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::size_t position() const { return at_; }

    std::uint8_t u8() {
        if (at_ >= message_.size()) return fail();
        return static_cast<std::uint8_t>(message_[at_++]);
    }
    std::uint16_t u16() {
        const std::uint16_t high = u8();
        return static_cast<std::uint16_t>(high << 8 | u8());
    }
    std::uint32_t u32() {
        const std::uint32_t high = u16();
        return high << 16 | u16();
    }
    std::string_view bytes(std::size_t count) {
        if (count > message_.size() - at_) {
            fail();
            return {};
        }
        return message_.substr(std::exchange(at_, at_ + count), count);
    }

    // A possibly compressed name. A pointer must lead to before the place where the piece that holds it
    // began, so that chains of pointers end.
    WireName name() {
        WireName out;
        std::size_t at = at_;
        std::size_t floor = at_;
        int jumps = 0;
        for (;;) {
            if (at >= message_.size()) return fail_name();
            const auto length = static_cast<std::uint8_t>(message_[at]);
            if (length >= 0xC0) {
                if (at + 1 >= message_.size()) return fail_name();
                const std::size_t target =
                    (length & 0x3Fu) << 8 | static_cast<std::uint8_t>(message_[at + 1]);
                if (target >= floor || jumps == kMaxJumps) return fail_name();
                if (jumps++ == 0) at_ = at + 2;
                at = floor = target;
                continue;
            }
            if (length > kMaxLabel || length + 1 > message_.size() - at) return fail_name();
            out += message_.substr(at, length + 1u);
            if (out.size() > kMaxName) return fail_name();
            at += length + 1u;
            if (length == 0) break;
        }
        if (jumps == 0) at_ = at;
        return out;
    }

private:
    std::uint8_t fail() {
        ok_ = false;
        at_ = message_.size();
        return 0;
    }
    WireName fail_name() {
        fail();
        return {};
    }

    std::string_view message_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

void put_u16(std::string& out, std::size_t value) {
    out += static_cast<char>(value >> 8 & 0xFF);
    out += static_cast<char>(value & 0xFF);
}

void put_u32(std::string& out, std::uint32_t value) {
    put_u16(out, value >> 16);
    put_u16(out, value & 0xFFFF);
}

Question read_question(Reader& in) {
    Question question;
    question.name = in.name();
    question.type = static_cast<Type>(in.u16());
    question.klass = in.u16();
    return question;
}

// The data of a record with its names written out, since compression means nothing outside its message.
// Nothing when it does not fit `size`.
std::optional<std::string> read_data(Reader& in, Type type, std::size_t size) {
    const std::size_t end = in.position() + size;
    std::string data;
    switch (type) {
        case Type::cname:
        case Type::ptr:
        case Type::ns: data = in.name(); break;
        case Type::mx:
            data = in.bytes(2);
            data += in.name();
            break;
        case Type::srv:
            data = in.bytes(6);
            data += in.name();
            break;
        case Type::soa:
            data = in.name();
            data += in.name();
            data += in.bytes(20);
            break;
        default: data = in.bytes(size); break;
    }
    if (!in.ok() || in.position() != end) return std::nullopt;
    if (type == Type::a && size != 4) return std::nullopt;
    return data;
}

void put_opt(std::string& out, std::string_view options) {
    out += '\0';
    put_u16(out, std::to_underlying(Type::opt));
    put_u16(out, kOurPayload);
    put_u32(out, 0);
    put_u16(out, options.size());
    out += options;
}

std::string extended_error(ExtendedError error, std::string_view reason) {
    reason = reason.substr(0, kMaxReason);
    std::string option;
    put_u16(option, kExtendedError);
    put_u16(option, 2 + reason.size());
    put_u16(option, std::to_underlying(error));
    return option.append(reason);
}

void put_record(std::string& out, const Query& query, const Record& record) {
    if (same_name(record.name, query.question.name)) {
        put_u16(out, 0xC000 | kHeaderSize);
    } else {
        out += record.name;
    }
    put_u16(out, std::to_underlying(record.type));
    put_u16(out, kClassIn);
    put_u32(out, record.ttl);
    put_u16(out, record.data.size());
    out += record.data;
}

}  // namespace

std::string to_string(Type type) {
    switch (type) {
        case Type::a: return "A";
        case Type::ns: return "NS";
        case Type::cname: return "CNAME";
        case Type::soa: return "SOA";
        case Type::null: return "NULL";
        case Type::ptr: return "PTR";
        case Type::mx: return "MX";
        case Type::txt: return "TXT";
        case Type::aaaa: return "AAAA";
        case Type::srv: return "SRV";
        case Type::opt: return "OPT";
        case Type::svcb: return "SVCB";
        case Type::https: return "HTTPS";
        case Type::axfr: return "AXFR";
        case Type::any: return "ANY";
    }
    return "TYPE" + std::to_string(std::to_underlying(type));
}

std::string to_text(std::string_view name) {
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const auto length = static_cast<std::uint8_t>(name[at++]);
        if (length == 0) break;
        if (!text.empty()) text += '.';
        for (const char raw : name.substr(at, length)) {
            const char c = lower(raw);
            if (is_name_char(c)) {
                text += c;
            } else {
                const auto value = static_cast<std::uint8_t>(raw);
                text += '\\';
                text += static_cast<char>('0' + value / 100);
                text += static_cast<char>('0' + value / 10 % 10);
                text += static_cast<char>('0' + value % 10);
            }
        }
        at += length;
    }
    return text;
}

Result<WireName> to_wire(std::string_view text) {
    WireName name;
    if (text.ends_with('.')) text.remove_suffix(1);
    while (!text.empty()) {
        const std::size_t dot = text.find('.');
        const std::string_view label = text.substr(0, dot);
        if (label.empty() || label.size() > kMaxLabel ||
            !std::ranges::all_of(label, [](char c) { return is_name_char(lower(c)); })) {
            return refuse(Errc::invalid_argument, "not a host name");
        }
        name += static_cast<char>(label.size());
        name += label;
        if (dot == std::string_view::npos) break;
        text.remove_prefix(dot + 1);
        if (text.empty()) return refuse(Errc::invalid_argument, "not a host name");
    }
    name += '\0';
    if (name.size() > kMaxName) return refuse(Errc::invalid_argument, "host name is too long");
    return name;
}

bool same_name(std::string_view a, std::string_view b) {
    // Length bytes are below 64 and so are never taken for letters.
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void mix_case(WireName& name, std::span<const std::uint8_t, 32> bits) {
    for (std::size_t i = 0; i < name.size() && i < bits.size() * 8; ++i) {
        const bool large = (bits[i / 8] >> (i % 8) & 1) != 0;
        name[i] = lower(name[i]);
        if (large && name[i] >= 'a' && name[i] <= 'z') name[i] = static_cast<char>(name[i] - ('a' - 'A'));
    }
}

Result<Query> parse_query(std::string_view bytes) {
    Reader in{bytes};
    Query query;
    query.id = in.u16();
    const std::uint16_t flags = in.u16();
    const std::uint16_t questions = in.u16(), answers = in.u16(), authorities = in.u16(), extras = in.u16();
    query.opcode = flags >> 11 & 0xF;
    query.recursion_desired = (flags & kRecursionDesired) != 0;
    if (!in.ok() || (flags & kReplyFlag) != 0) return refuse(Errc::invalid_argument, "not a DNS question");
    if (questions != 1 || answers != 0 || authorities != 0 || extras > 2) {
        return refuse(Errc::invalid_argument, "a DNS question with other contents");
    }
    query.question = read_question(in);
    for (std::uint16_t i = 0; i < extras; ++i) {
        in.name();
        const auto type = static_cast<Type>(in.u16());
        const std::uint16_t klass = in.u16();
        in.u32();
        in.bytes(in.u16());
        if (type == Type::opt) {
            query.extended = true;
            query.payload_limit = std::clamp<std::uint16_t>(klass, 512, kOurPayload);
        }
    }
    if (!in.ok()) return refuse(Errc::invalid_argument, "a cut DNS question");
    return query;
}

Result<Reply> parse_reply(std::string_view bytes) {
    Reader in{bytes};
    Reply reply;
    reply.id = in.u16();
    const std::uint16_t flags = in.u16();
    const std::uint16_t questions = in.u16(), answers = in.u16();
    in.u32();  // the counts of sections that are not looked at
    reply.truncated = (flags & kTruncatedFlag) != 0;
    reply.rcode = static_cast<Rcode>(flags & 0xF);
    if (!in.ok() || (flags & kReplyFlag) == 0 || questions != 1) {
        return refuse(Errc::invalid_argument, "not a DNS answer");
    }
    reply.question = read_question(in);
    if (!in.ok()) return refuse(Errc::invalid_argument, "a DNS answer without its question");
    for (std::size_t i = 0; i < answers && in.ok() && reply.answers.size() < kMaxAnswers; ++i) {
        Record record;
        record.name = in.name();
        record.type = static_cast<Type>(in.u16());
        const std::uint16_t klass = in.u16();
        record.ttl = in.u32();
        const std::uint16_t size = in.u16();
        std::optional<std::string> data = read_data(in, record.type, size);
        if (!data) {
            // What follows a cut answer is missing on purpose; anything else is malformed.
            if (reply.truncated) return reply;
            return refuse(Errc::invalid_argument, "a malformed DNS answer");
        }
        record.data = std::move(*data);
        if (klass == kClassIn) reply.answers.push_back(std::move(record));
    }
    if (!in.ok() && !reply.truncated) return refuse(Errc::invalid_argument, "a malformed DNS answer");
    return reply;
}

std::string write_query(std::uint16_t id, const Question& question) {
    std::string out;
    put_u16(out, id);
    put_u16(out, kRecursionDesired);
    put_u16(out, 1);
    put_u16(out, 0);
    put_u16(out, 0);
    put_u16(out, 1);
    out += question.name;
    put_u16(out, std::to_underlying(question.type));
    put_u16(out, question.klass);
    put_opt(out, {});
    return out;
}

std::string write_answer(const Query& query, const Answer& answer, std::size_t limit) {
    std::string body = query.question.name;
    put_u16(body, std::to_underlying(query.question.type));
    put_u16(body, query.question.klass);
    std::string opt;
    if (query.extended) {
        put_opt(opt, answer.error ? extended_error(*answer.error, answer.reason) : std::string{});
    }

    std::size_t written = 0;
    for (const Record& record : answer.records) {
        std::string piece;
        put_record(piece, query, record);
        if (kHeaderSize + body.size() + piece.size() + opt.size() > limit) break;
        body += piece;
        ++written;
    }
    std::size_t flags = kReplyFlag | kRecursionAvailable | std::to_underlying(answer.rcode);
    flags |= static_cast<std::size_t>(query.opcode) << 11;
    if (query.recursion_desired) flags |= kRecursionDesired;
    if (written < answer.records.size()) flags |= kTruncatedFlag;

    std::string out;
    put_u16(out, query.id);
    put_u16(out, flags);
    put_u16(out, 1);
    put_u16(out, written);
    put_u16(out, 0);
    put_u16(out, query.extended ? 1 : 0);
    return out + body + opt;
}

}  // namespace oyat::egress::dns
