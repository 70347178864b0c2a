// What a sandbox sends towards a host that a secret is bound to. Besides not crashing: a request that goes on
// never carries a placeholder, and one that is refused never carries a value (threats E-20).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/throwing.hpp"
#include "http/head.hpp"
#include "secrets/broker.hpp"
#include "secrets/sigv4.hpp"

namespace {

using namespace oyat;
using namespace oyat::secrets;

constexpr std::string_view kPlaceholder = "PLACEHOLDER";  // short, so that the fuzzer finds it
constexpr std::string_view kValue = "AKIA:the-true-value";

class FixedValues final : public Values {
    [[nodiscard]] Result<SecretValue> secret(const std::string&) const override {
        return SecretValue{kValue};
    }
    [[nodiscard]] Result<std::string> identity_token(const std::string&) const override { return "token"; }
};

Broker& broker() {
    static const SystemClock clock;
    static Broker made{std::make_unique<FixedValues>(), clock};
    if (!made.grants().empty()) return made;
    int id = 0;
    for (const auto& [place, name] : {std::pair{core::SecretPlace::header, "X-Key"},
                                      {core::SecretPlace::basic, ""},
                                      {core::SecretPlace::query, "key"},
                                      {core::SecretPlace::body, "key"},
                                      {core::SecretPlace::aws_sigv4, "ID"}}) {
        core::SecretBinding asked;
        asked.secret = "s";
        asked.env = "S";
        asked.hosts = {"a.test"};
        asked.place = place;
        asked.name = name;
        made.add({.id = std::to_string(id++),
                  .binding = std::make_shared<const Binding>(or_throw(Binding::parse(asked))),
                  .placeholder = std::string{kPlaceholder},
                  .command = {}});
    }
    return made;
}

bool holds(const Prepared& prepared, std::string_view text) {
    for (const auto& [name, value] : prepared.fields) {
        if (name.find(text) != std::string::npos || value.find(text) != std::string::npos) return true;
    }
    return prepared.target.find(text) != std::string::npos ||
           (prepared.body && prepared.body->find(text) != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t end = http::find_head_end(text, 0);
    const auto parsed = http::parse_request_head(text.substr(0, end == std::string_view::npos ? size : end));
    if (!parsed) return 0;
    const std::string_view body = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    const RequestView request{.host = "a.test",
                              .method = parsed->head.method,
                              .target = parsed->head.target,
                              .fields = parsed->head.fields,
                              .body = body};
    (void)broker().body_need(request);
    const Prepared prepared = broker().prepare(request);
    OYAT_ASSERT(!holds(prepared, kPlaceholder));
    if (!prepared.forward) OYAT_ASSERT(!holds(prepared, "the-true-value"));
    return 0;
}
