// DNS as a sandbox asks it and as a resolver, perhaps an attacker's, answers it. Besides not crashing: what
// we write we can read again, within the limit, and no sandbox is told an address that it may not reach.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/throwing.hpp"
#include "egress/answer_cache.hpp"
#include "egress/dns_answers.hpp"
#include "egress/dns_message.hpp"
#include "egress/name_rules.hpp"
#include "egress/registered_domain.hpp"
#include "egress/tunnel_watch.hpp"

namespace {

using namespace oyat;
using namespace oyat::egress;

const Destinations& destinations() {
    static const Destinations known{or_throw(OperatorOpenings::parse({"10.20.0.0/16"}, {"10.1.2.3:80"}))};
    return known;
}

void check_written(const dns::Query& query, const dns::Answer& answer, std::size_t limit) {
    const std::string written = dns::write_answer(query, answer, limit);
    // The question itself always goes back, whatever the limit.
    OYAT_ASSERT(answer.records.empty() || written.size() <= std::max<std::size_t>(limit, 512));
    const auto read = dns::parse_reply(written);
    OYAT_ASSERT(read.has_value());
    OYAT_ASSERT(read->id == query.id && dns::same_name(read->question.name, query.question.name));
    OYAT_ASSERT(read->answers.size() <= answer.records.size());
}

void check_question(std::string_view bytes) {
    const auto query = dns::parse_query(bytes);
    if (!query) return;
    OYAT_ASSERT(query->question.name.size() <= 255);
    (void)judge_name(*query, "i0123456789abcdefghij", {}, destinations(), {});
    const std::string name = dns::to_text(query->question.name);
    const std::string domain = registered_domain(name);
    OYAT_ASSERT(name.ends_with(domain));
    (void)looks_like_data(name, domain);
    check_written(*query,
                  {.rcode = dns::Rcode::refused, .error = dns::ExtendedError::blocked, .reason = "type"},
                  query->payload_limit);
}

void check_cache(const dns::Reply& reply) {
    AnswerCache cache;
    cache.keep("www.test", reply, MonoTime{});
    OYAT_ASSERT(cache.bytes() <= AnswerCache::kMaxBytes);
    const auto known = cache.find("www.test", reply.question.type, MonoTime{});
    OYAT_ASSERT(!known ||
                (known->left >= std::chrono::seconds{30} && known->left <= std::chrono::seconds{300}));
}

void check_reply(std::string_view bytes) {
    const auto reply = dns::parse_reply(bytes);
    if (!reply) return;
    OYAT_ASSERT(reply->answers.size() <= dns::kMaxAnswers);
    check_cache(*reply);
    const auto selection = dns::select_answers(reply->question, *reply, destinations());
    if (!selection) return;
    for (const IpAddress& address : selection->addresses) OYAT_ASSERT(destinations().may_be_told(address));
    dns::Query query;
    query.question = reply->question;
    check_written(query, {.records = selection->records}, 65'535);
    check_written(query, {.records = selection->records}, 512);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    check_question(bytes);
    check_reply(bytes);
    return 0;
}
