#include "secrets/sigv4.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "http/url.hpp"

namespace oyat::secrets::sigv4 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kEnd = "aws4_request";
constexpr std::string_view kSignature = "X-Amz-Signature";
constexpr std::string_view kToken = "X-Amz-Security-Token";
constexpr std::string_view kPayload = "X-Amz-Content-Sha256";
constexpr std::string_view kUnsigned = "UNSIGNED-PAYLOAD";

using Pairs = std::vector<std::pair<std::string, std::string>>;

Error bad(std::string sentence) {
    return {Errc::invalid_argument, "signed request: " + std::move(sentence)};
}

std::string lower(std::string_view text) {
    std::string made{text};
    for (char& c : made) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return made;
}

std::string hmac(std::string_view key, std::string_view message) {
    std::string digest(32, '\0');
    unsigned length = 0;
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(),
             reinterpret_cast<unsigned char*>(digest.data()), &length) == nullptr) {
        throw Error{Errc::internal, "the digest failed"};
    }
    return digest;
}

std::vector<std::string> split(std::string_view text, char by) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t at = text.find(by);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

bool is_word(std::string_view text) {
    return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.' || c == '~';
    });
}

// Of the connection rather than of the message: oyatd writes these itself, so no signature may cover them.
constexpr std::array<std::string_view, 6> kNotForwarded = {"connection", "content-length",   "expect", "te",
                                                           "trailer",    "transfer-encoding"};

// "KEY/20261130/eu-west-1/s3/aws4_request" and "host;x-amz-date".
Claim claim_of(Claim::Where where, std::string_view credential, std::string_view fields) {
    const std::vector<std::string> parts = split(credential, '/');
    if (parts.size() != 5 || parts[4] != kEnd || !std::ranges::all_of(parts, is_word)) {
        throw bad("its Credential is none");
    }
    Claim claim{.where = where,
                .key_id = parts[0],
                .date = parts[1],
                .region = parts[2],
                .service = parts[3],
                .signed_fields = split(lower(fields), ';')};
    if (!std::ranges::all_of(claim.signed_fields, is_word) || claim.signed_fields.size() > 128) {
        throw bad("its SignedHeaders are none");
    }
    std::erase_if(claim.signed_fields, [](const std::string& name) {
        return std::ranges::find(kNotForwarded, name) != kNotForwarded.end();
    });
    std::ranges::sort(claim.signed_fields);
    if (std::ranges::find(claim.signed_fields, "host") == claim.signed_fields.end()) {
        throw bad("it does not sign its host");
    }
    return claim;
}

// Pairs of a query in their order, decoded; '+' stands for itself here.
Pairs pairs_of(std::string_view query) {
    Pairs pairs;
    if (query.empty()) return pairs;
    for (const std::string& part : split(query, '&')) {
        if (part.empty()) continue;
        const std::size_t equals = part.find('=');
        const std::string_view value =
            equals == std::string::npos ? "" : std::string_view{part}.substr(equals + 1);
        pairs.emplace_back(or_throw(http::percent_decode(std::string_view{part}.substr(0, equals))),
                           or_throw(http::percent_decode(value)));
    }
    return pairs;
}

const std::string* value_of(const Pairs& pairs, std::string_view name) {
    const auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
    return found == pairs.end() ? nullptr : &found->second;
}

std::string query_of(const Pairs& pairs) {
    std::string query;
    for (const auto& [name, value] : pairs) {
        if (!query.empty()) query += '&';
        query += http::percent_encode(name) + "=" + http::percent_encode(value);
    }
    return query;
}

std::string canonical_query(Pairs pairs) {
    for (auto& [name, value] : pairs) {
        name = http::percent_encode(name);
        value = http::percent_encode(value);
    }
    std::ranges::sort(pairs);
    std::string query;
    for (const auto& [name, value] : pairs) query += (query.empty() ? "" : "&") + name + "=" + value;
    return query;
}

std::string encode_path(std::string_view path) {
    std::string made;
    for (const std::string& segment : split(path, '/')) made += "/" + http::percent_encode(segment);
    return made.substr(1);
}

// S3 takes the path as it is; the other services encode it once more.
std::string canonical_path(std::string_view path, std::string_view service) {
    std::string once;
    for (const std::string& segment : split(path, '/')) {
        once += "/" + http::percent_encode(or_throw(http::percent_decode(segment)));
    }
    once.erase(0, 1);
    if (once.empty()) return "/";
    return service == "s3" ? once : encode_path(once);
}

// Blanks at the ends go, rows of them become one; fields of one name are joined.
std::string canonical_value(const http::Fields& fields, std::string_view name) {
    std::string joined;
    for (const auto& [field, value] : fields) {
        if (!http::equal_ignoring_case(field, name)) continue;
        if (!joined.empty()) joined += ',';
        std::string squeezed;
        for (const char c : value) {
            if (c == ' ' && (squeezed.empty() || squeezed.back() == ' ')) continue;
            squeezed += c;
        }
        while (squeezed.ends_with(' ')) squeezed.pop_back();
        joined += squeezed;
    }
    return joined;
}

std::string join(const std::vector<std::string>& words, char by) {
    std::string joined;
    for (const std::string& word : words) joined += (joined.empty() ? "" : std::string(1, by)) + word;
    return joined;
}

std::string payload_of(const Request& request, const Claim& claim) {
    const std::string_view given = request.fields.get(kPayload);
    if (given.starts_with("STREAMING-AWS4")) {
        throw bad("its body is signed piece by piece; let the client sign it whole or not at all");
    }
    if (!given.empty()) return std::string{given};
    if (claim.where == Claim::Where::query) return std::string{kUnsigned};
    return sha256_hex(request.body);
}

struct Signed {
    std::string signature;
    std::string scope;
};

Signed signature_of(const Request& request, const Claim& claim, const Key& key, std::string_view time) {
    const std::size_t mark = request.target.find('?');
    const std::string_view path = std::string_view{request.target}.substr(0, mark);
    const std::string_view query =
        mark == std::string::npos ? std::string_view{} : std::string_view{request.target}.substr(mark + 1);
    std::string canonical = request.method + "\n" + canonical_path(path, claim.service) + "\n" +
                            canonical_query(pairs_of(query)) + "\n";
    for (const std::string& name : claim.signed_fields) {
        if (name != "host" && !request.fields.has(name)) throw bad("it signs a field that it does not have");
        canonical +=
            name + ":" + (name == "host" ? request.host : canonical_value(request.fields, name)) + "\n";
    }
    canonical += "\n" + join(claim.signed_fields, ';') + "\n" + payload_of(request, claim);

    const std::string scope = claim.date + "/" + claim.region + "/" + claim.service + "/" + std::string{kEnd};
    const std::string to_sign =
        std::string{kAlgorithm} + "\n" + std::string{time} + "\n" + scope + "\n" + sha256_hex(canonical);
    std::string signing = hmac("AWS4" + std::string{key.secret}, claim.date);
    for (const std::string_view step :
         {std::string_view{claim.region}, std::string_view{claim.service}, kEnd}) {
        signing = hmac(signing, step);
    }
    Sha256::Digest digest{};
    std::ranges::copy(hmac(signing, to_sign), digest.begin());
    return {to_hex(digest), scope};
}

void sign_header(Request& request, Claim claim, const Key& key) {
    request.fields.remove("Authorization");
    request.fields.remove(kToken);
    const std::string token = lower(kToken);
    std::erase(claim.signed_fields, token);
    if (!key.session.empty()) {
        request.fields.add(std::string{kToken}, std::string{key.session});
        claim.signed_fields.insert(std::ranges::upper_bound(claim.signed_fields, token), token);
    }
    const std::string time{request.fields.get("X-Amz-Date")};
    if (!time.starts_with(claim.date))
        throw bad("its X-Amz-Date is missing or of another day than its Credential");
    const Signed made = signature_of(request, claim, key, time);
    request.fields.add("Authorization", std::string{kAlgorithm} + " Credential=" + std::string{key.id} + "/" +
                                            made.scope + ", SignedHeaders=" + join(claim.signed_fields, ';') +
                                            ", Signature=" + made.signature);
}

void sign_query(Request& request, const Claim& claim, const Key& key) {
    const std::size_t mark = request.target.find('?');
    const std::string path = request.target.substr(0, mark);
    Pairs pairs = pairs_of(std::string_view{request.target}.substr(mark + 1));
    std::erase_if(pairs, [](const auto& pair) { return pair.first == kSignature || pair.first == kToken; });
    const std::string* const given = value_of(pairs, "X-Amz-Date");
    if (given == nullptr || !given->starts_with(claim.date))
        throw bad("its X-Amz-Date is missing or of another day");
    const std::string time = *given;
    for (auto& [name, value] : pairs) {
        if (name == "X-Amz-Credential") value = std::string{key.id} + value.substr(value.find('/'));
        if (name == "X-Amz-SignedHeaders") value = join(claim.signed_fields, ';');
    }
    if (!key.session.empty()) pairs.emplace_back(kToken, key.session);
    request.target = path + "?" + query_of(pairs);
    const Signed made = signature_of(request, claim, key, time);
    request.target += "&" + std::string{kSignature} + "=" + made.signature;
}

std::optional<Claim> claim_in(const http::Fields& fields, std::string_view target) {
    if (fields.count("Authorization") == 1 && fields.get("Authorization").starts_with(kAlgorithm)) {
        std::string credential, names;
        for (std::string part : split(fields.get("Authorization").substr(kAlgorithm.size()), ',')) {
            part.erase(0, part.find_first_not_of(' '));
            if (part.starts_with("Credential=")) credential = part.substr(11);
            if (part.starts_with("SignedHeaders=")) names = part.substr(14);
        }
        return claim_of(Claim::Where::header, credential, names);
    }
    const std::size_t mark = target.find('?');
    if (mark == std::string_view::npos || target.find(kSignature) == std::string_view::npos)
        return std::nullopt;
    const Pairs pairs = pairs_of(target.substr(mark + 1));
    const std::string* const algorithm = value_of(pairs, "X-Amz-Algorithm");
    if (algorithm == nullptr || *algorithm != kAlgorithm) return std::nullopt;
    for (const std::string_view once : {"X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Date"}) {
        if (std::ranges::count(pairs, once, &Pairs::value_type::first) != 1)
            throw bad("its query lacks a part, or has one twice");
    }
    return claim_of(Claim::Where::query, *value_of(pairs, "X-Amz-Credential"),
                    *value_of(pairs, "X-Amz-SignedHeaders"));
}

}  // namespace

Result<std::optional<Claim>> read_claim(const http::Fields& fields, std::string_view target) {
    try {
        return claim_in(fields, target);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

Result<Key> Key::parse(std::string_view value) {
    while (value.ends_with('\n')) value.remove_suffix(1);
    const std::size_t first = value.find(':');
    if (first == std::string_view::npos) {
        return refuse(Errc::failed_precondition,
                      "the secret is no signing key: it must be KEY-ID:SECRET-KEY");
    }
    const std::size_t second = value.find(':', first + 1);
    Key key{
        .id = value.substr(0, first), .secret = value.substr(first + 1, second - first - 1), .session = {}};
    if (second != std::string_view::npos) key.session = value.substr(second + 1);
    if (!is_word(key.id) || key.secret.empty()) {
        return refuse(Errc::failed_precondition,
                      "the secret is no signing key: it must be KEY-ID:SECRET-KEY");
    }
    return key;
}

bool needs_body(const Claim& claim, const http::Fields& fields) {
    return claim.where == Claim::Where::header && !fields.has(kPayload);
}

Result<void> sign(Request& request, const Claim& claim, const Key& key) {
    try {
        if (claim.where == Claim::Where::header) {
            sign_header(request, claim, key);
        } else {
            sign_query(request, claim, key);
        }
        return {};
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

}  // namespace oyat::secrets::sigv4
