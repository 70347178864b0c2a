#pragma once

#include <string>

#include "core/egress_control.hpp"
#include "egress/answer_cache.hpp"
#include "egress/name_rules.hpp"
#include "egress/pins.hpp"
#include "egress/report.hpp"
#include "egress/shared.hpp"
#include "egress/token_bucket.hpp"
#include "egress/tunnel_watch.hpp"
#include "http/request_transform.hpp"

namespace oyat::egress {

// What one sandbox is told about names: by its policy, on its record, and with a pin for each address.
class Names {
public:
    // `policy` is the one in force, which changes. `transform` says which names may not leave; null: all may.
    // All but the name outlive this.
    Names(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins,
          http::RequestTransform* transform, std::string sandbox);

    // Whether one more question is within the sandbox's rate; what is not is on the record.
    [[nodiscard]] bool take_turn();
    // To a question that has had its turn.
    Task<dns::Answer> answer_to(dns::Query query);
    // Asks for a name's addresses as if the sandbox had, so that those that it may know are pinned.
    Task<> look_up(std::string name);

private:
    // For a name that may be asked for: by the operator's entries, the cache or the resolvers.
    Task<dns::Answer> resolve(dns::Query query, std::string name);
    // Why it may not be asked for after all, or "".
    [[nodiscard]] std::string_view watch(const std::string& name);
    Task<dns::Answer> ask_resolvers(dns::Query query, std::string name);
    // Judges a reply, records the question, and remembers which name stands for which address. `left` is the
    // longest that the sandbox may keep it.
    dns::Answer give(const dns::Query& query, const std::string& name, const dns::Reply& reply,
                     std::chrono::seconds left);
    dns::Answer fail(const dns::Query& query, const std::string& name, std::string_view reason, Fault fault);
    dns::Answer deny(const dns::Query& query, const std::string& name, std::string_view reason,
                     dns::Rcode rcode);
    void report_query(const dns::Query& query, const std::string& name, std::string_view answer);

    Shared& shared_;
    const core::PolicyPtr& policy_;
    Report& report_;
    Pins& pins_;
    http::RequestTransform* transform_;
    std::string sandbox_;
    TokenBucket rate_;
    AnswerCache cache_;
    TunnelWatch tunnels_;
    std::size_t under_way_ = 0;
};

}  // namespace oyat::egress
