#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

// DNS messages (RFC 1035, RFC 6891). Pure functions over bytes from a sandbox or from a resolver: every
// length is checked, compression pointers only go backwards, and no message makes more than a bounded amount
// of work.
namespace oyat::egress::dns {

enum class Type : std::uint16_t {
    a = 1,
    ns = 2,
    cname = 5,
    soa = 6,
    null = 10,
    ptr = 12,
    mx = 15,
    txt = 16,
    aaaa = 28,
    srv = 33,
    opt = 41,
    svcb = 64,
    https = 65,
    axfr = 252,
    any = 255
};
[[nodiscard]] std::string to_string(Type type);  // "A", "TYPE99"

enum class Rcode : std::uint8_t {
    ok = 0,
    format_error = 1,
    server_failure = 2,
    no_such_name = 3,
    not_implemented = 4,
    refused = 5
};

// A name as it is on the wire, without compression: length-prefixed labels and the root's zero. At most 255
// bytes.
using WireName = std::string;
// "www.example.org", lower case, without the last dot ("" is the root). Bytes outside [a-z0-9_-] become \DDD.
[[nodiscard]] std::string to_text(std::string_view name);
// From text of [a-zA-Z0-9_-] labels.
[[nodiscard]] Result<WireName> to_wire(std::string_view text);
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);  // without regard to case
// Makes each letter large or small as the random bits say, one for each byte of the name.
void mix_case(WireName& name, std::span<const std::uint8_t, 32> bits);

struct Question {
    WireName name;  // in the case the client wrote it
    Type type = Type::a;
    std::uint16_t klass = 1;  // IN
};

struct Query {
    std::uint16_t id = 0;
    std::uint8_t opcode = 0;
    bool recursion_desired = false;
    Question question;
    bool extended = false;              // had an OPT record (EDNS)
    std::uint16_t payload_limit = 512;  // what the client can take in one datagram
};
// invalid_argument: not a question that could be answered, not even with an error.
[[nodiscard]] Result<Query> parse_query(std::string_view bytes);

struct Record {
    WireName name;
    Type type = Type::a;
    std::uint32_t ttl = 0;
    std::string data;  // names inside are uncompressed
};

struct Reply {
    std::uint16_t id = 0;
    bool truncated = false;
    Rcode rcode = Rcode::ok;
    Question question;
    std::vector<Record> answers{};  // class IN, at most kMaxAnswers
};
inline constexpr std::size_t kMaxAnswers = 256;
// Of an upstream resolver. Only the answer section is looked at.
[[nodiscard]] Result<Reply> parse_reply(std::string_view bytes);

// A question to an upstream resolver: recursion desired, EDNS with 1,232 bytes.
[[nodiscard]] std::string write_query(std::uint16_t id, const Question& question);

// Why there is no answer (RFC 8914), told to clients that know EDNS.
enum class ExtendedError : std::uint16_t { blocked = 15, network_error = 23 };

struct Answer {
    Rcode rcode = Rcode::ok;
    std::vector<Record> records{};
    std::optional<ExtendedError> error{};
    std::string reason{};  // a word or two beside `error`, for people; ASCII
};
// Records that do not fit into `limit` bytes are left out and the answer is marked as truncated.
[[nodiscard]] std::string write_answer(const Query& query, const Answer& answer, std::size_t limit);

}  // namespace oyat::egress::dns
