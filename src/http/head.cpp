#include "http/head.hpp"

#include <algorithm>
#include <utility>

#include "http/grammar.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kMaxMethodBytes = 32;
constexpr std::size_t kMaxLengthDigits = 18;  // below 2^60

auto malformed(std::string what) {
    return refuse(Errc::invalid_argument, std::move(what));
}

// Takes the next line off `rest`; nothing when it does not end in CRLF. A CR elsewhere stays inside, where no
// grammar allows it.
std::optional<std::string_view> take_line(std::string_view& rest) {
    const auto newline = rest.find('\n');
    if (newline == rest.npos || newline == 0 || rest[newline - 1] != '\r') return std::nullopt;
    const std::string_view line = rest.substr(0, newline - 1);
    rest.remove_prefix(newline + 1);
    return line;
}

Result<Fields> parse_fields(std::string_view rest) {
    Fields fields;
    for (;;) {
        const auto line = take_line(rest);
        if (!line) return malformed("a line of the head does not end in CRLF");
        if (line->empty()) break;
        if (fields.size() == kMaxFieldCount) return malformed("too many fields");
        const auto field = parse_field_line(*line);
        if (!field) return malformed("invalid field line");
        fields.add(std::string{field->name}, std::string{field->value});
    }
    if (!rest.empty()) return malformed("bytes after the head");
    return fields;
}

// What Content-Length and Transfer-Encoding say about the body; BodyKind::none when they say nothing.
struct Framing {
    BodyKind kind = BodyKind::none;
    std::optional<std::uint64_t> length;
};

Result<Framing> parse_framing(const Fields& fields) {
    Framing framing;
    const std::size_t lengths = fields.count("Content-Length");
    const std::size_t encodings = fields.count("Transfer-Encoding");
    if (lengths + encodings > 1) return malformed("more than one field says where the body ends");
    if (lengths == 1) {
        framing.length = parse_decimal(fields.get("Content-Length"), kMaxLengthDigits);
        if (!framing.length) return malformed("invalid Content-Length");
        framing.kind = BodyKind::sized;
    }
    if (encodings == 1) {
        if (!equal_ignoring_case(fields.get("Transfer-Encoding"), "chunked")) {
            return malformed("a Transfer-Encoding other than chunked");
        }
        framing.kind = BodyKind::chunked;
    }
    return framing;
}

bool is_target_char(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f && byte != '#';
}

// Only what a server itself is asked: neither a proxy's absolute form nor CONNECT's authority.
bool is_origin_form(std::string_view target, std::string_view method) {
    if (target == "*") return method == "OPTIONS";
    return target.starts_with('/') && std::ranges::all_of(target, is_target_char);
}

Result<void> take_host(RequestHead& head, bool http_1_0) {
    const std::size_t hosts = head.fields.count("Host");
    if (hosts > 1 || (hosts == 0 && !http_1_0)) return malformed("a request has exactly one Host");
    if (hosts == 0) return {};
    const auto parsed = parse_host(head.fields.get("Host"));
    if (!parsed) return malformed("invalid Host");
    head.host = parsed->host;
    std::ranges::transform(head.host, head.host.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    head.host_port = parsed->port;
    return {};
}

// A body would stand between the two protocols, and h2c would carry requests past everything that looks at
// them: both are answered as if nobody had asked, which RFC 9110, 7.8 allows.
bool wants_upgrade(const RequestHead& head, bool http_1_0) {
    return !http_1_0 && !head.has_body && head.fields.count("Upgrade") == 1 &&
           head.fields.has_token("Connection", "upgrade") && !head.fields.has_token("Upgrade", "h2c");
}

}  // namespace

std::size_t find_head_end(std::string_view bytes, std::size_t searched) noexcept {
    // An empty line that began in the bytes searched before needs a look at the last two of them.
    std::size_t at = searched > 3 ? searched - 3 : 0;
    while ((at = bytes.find('\n', at)) != bytes.npos) {
        const std::string_view next = bytes.substr(at + 1, 2);
        if (next.starts_with('\n')) return at + 2;
        if (next == "\r\n") return at + 3;
        ++at;
    }
    return bytes.npos;
}

Result<ParsedRequest> parse_request_head(std::string_view text) {
    const auto line = take_line(text);
    if (!line) return malformed("a line of the head does not end in CRLF");
    const auto first_blank = line->find(' ');
    const auto last_blank = line->rfind(' ');
    if (first_blank == line->npos || first_blank == last_blank) return malformed("invalid request line");

    ParsedRequest parsed;
    RequestHead& head = parsed.head;
    head.method = line->substr(0, first_blank);
    head.target = line->substr(first_blank + 1, last_blank - first_blank - 1);
    const std::string_view version = line->substr(last_blank + 1);
    if (!is_token(head.method) || head.method.size() > kMaxMethodBytes) return malformed("invalid method");
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return malformed("not HTTP/1.1");
    if (head.target.size() > kMaxTargetBytes) return malformed("request target too long");
    if (!is_origin_form(head.target, head.method)) return malformed("invalid request target");
    parsed.http_1_0 = version == "HTTP/1.0";
    const auto question = std::min(head.target.find('?'), head.target.size());
    head.path = head.target.substr(0, question);
    head.query = head.target.substr(std::min(question + 1, head.target.size()));

    Result<Fields> fields = parse_fields(text);
    if (!fields) return std::unexpected{std::move(fields).error()};
    head.fields = *std::move(fields);
    if (Result<void> host = take_host(head, parsed.http_1_0); !host) {
        return std::unexpected{std::move(host).error()};
    }

    const Result<Framing> framing = parse_framing(head.fields);
    if (!framing) return std::unexpected{framing.error()};
    if (framing->kind == BodyKind::chunked && parsed.http_1_0) return malformed("chunked body in HTTP/1.0");
    head.content_length = framing->length;
    head.has_body = framing->kind == BodyKind::chunked || framing->length.value_or(0) > 0;
    parsed.body = head.has_body ? framing->kind : BodyKind::none;

    if (head.fields.has("Expect")) {
        if (!equal_ignoring_case(head.fields.get("Expect"), "100-continue"))
            return malformed("unknown Expect");
        parsed.expects_continue = !parsed.http_1_0 && head.has_body;
    }
    parsed.keep_alive = !parsed.http_1_0 && !head.fields.has_token("Connection", "close");
    head.wants_upgrade = wants_upgrade(head, parsed.http_1_0);
    return parsed;
}

Result<ParsedResponse> parse_response_head(std::string_view text, std::string_view method) {
    const auto line = take_line(text);
    if (!line) return malformed("a line of the head does not end in CRLF");
    // "HTTP/1.1 200 OK"; the reason may be missing, and some servers then leave its blank out too.
    const bool http_1_0 = line->starts_with("HTTP/1.0 ");
    if (!http_1_0 && !line->starts_with("HTTP/1.1 ")) return malformed("not HTTP/1.1");
    if (line->size() > 12 && (*line)[12] != ' ') return malformed("invalid status line");
    const auto status = parse_decimal(line->substr(9, 3), 3);
    if (!status || *status < 100 || *status > 999 || !is_field_value(line->substr(9))) {
        return malformed("invalid status line");
    }

    ParsedResponse parsed;
    ResponseHead& head = parsed.head;
    head.status = static_cast<int>(*status);
    Result<Fields> fields = parse_fields(text);
    if (!fields) return std::unexpected{std::move(fields).error()};
    head.fields = *std::move(fields);

    const Result<Framing> framing = parse_framing(head.fields);
    if (!framing) return std::unexpected{framing.error()};
    head.content_length = framing->length;
    if (method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304) {
        parsed.body = BodyKind::none;
    } else {
        parsed.body = framing->kind == BodyKind::none ? BodyKind::until_close : framing->kind;
    }
    parsed.keep_alive =
        !http_1_0 && parsed.body != BodyKind::until_close && !head.fields.has_token("Connection", "close");
    return parsed;
}

}  // namespace oyat::http
