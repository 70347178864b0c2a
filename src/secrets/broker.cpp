#include "secrets/broker.hpp"

#include <algorithm>
#include <limits>

#include "secrets/draft.hpp"
#include "secrets/sigv4.hpp"

namespace oyat::secrets {
namespace {

bool is_rule(const Grant& grant) {
    return grant.binding->asked().group == core::kHeaderRules;
}

// How narrow the host of a rule is: one name before all names below another, and of these the longest.
std::size_t narrowness(const Grant& grant) {
    const policy::HostPattern& host = grant.binding->hosts().front();
    return host.exact().empty() ? host.name().size() : std::numeric_limits<std::size_t>::max();
}

// Of the header rules that fit a request those of the narrowest host hold, and no others.
void keep_narrowest(std::vector<const Grant*>& here) {
    std::size_t narrowest = 0;
    for (const Grant* grant : here) {
        if (is_rule(*grant)) narrowest = std::max(narrowest, narrowness(*grant));
    }
    std::erase_if(here,
                  [&](const Grant* grant) { return is_rule(*grant) && narrowness(*grant) < narrowest; });
}

}  // namespace

Broker::Broker(std::unique_ptr<const Values> values, const Clock& clock)
    : values_{std::move(values)},
      clock_{clock},
      spellings_{std::make_shared<Spellings>(std::vector<Spellings::Item>{})} {}

void Broker::add(Grant grant) {
    grants_.push_back(std::move(grant));
    learn_spellings();
}

void Broker::remove_binding(const std::string& id) {
    std::erase_if(grants_, [&](const Grant& each) { return each.id == id; });
    uses_.erase(id);
    learn_spellings();
}

void Broker::remove_command(const std::string& command) {
    if (std::erase_if(grants_, [&](const Grant& each) { return each.command == command; }) != 0)
        learn_spellings();
}

std::uint64_t Broker::uses(const std::string& id) const {
    const auto found = uses_.find(id);
    return found == uses_.end() ? 0 : found->second;
}

void Broker::learn_spellings() {
    std::vector<Spellings::Item> items;
    for (const Grant& grant : grants_) {
        const bool known = std::ranges::any_of(
            items, [&](const Spellings::Item& each) { return each.placeholder == grant.placeholder; });
        if (!grant.placeholder.empty() && !known)
            items.push_back({grant.placeholder, grant.binding->secret()});
    }
    spellings_ = std::make_shared<Spellings>(std::move(items));
}

std::string Broker::unusable(const Grant& grant) const {
    const core::SecretBinding& asked = grant.binding->asked();
    if (asked.expires && *asked.expires <= clock_.wall()) return "its binding expired";
    if (asked.max_uses != 0 && uses(grant.id) >= asked.max_uses) {
        return "all " + std::to_string(asked.max_uses) + " uses of its binding are used up";
    }
    if (installing_ && !asked.during_install) return "it is suspended while packages are being installed";
    return {};
}

BodyNeed Broker::body_need(const RequestView& head) const {
    const auto needs_whole = [&](const Grant& grant) {
        if (!grant.binding->covers(head)) return false;
        if (grant.binding->asked().place == core::SecretPlace::body) return is_rewritable_body(head.fields);
        if (grant.binding->asked().place != core::SecretPlace::aws_sigv4) return false;
        const auto claim = sigv4::read_claim(head.fields, head.target);
        return claim && *claim && (*claim)->key_id == grant.placeholder &&
               sigv4::needs_body(**claim, head.fields);
    };
    return std::ranges::any_of(grants_, needs_whole) ? BodyNeed::whole : BodyNeed::stream;
}

Prepared Broker::prepare(const RequestView& request) {
    std::vector<const Grant*> here;
    for (const Grant& grant : grants_) {
        if (grant.binding->covers(request)) here.push_back(&grant);
    }
    keep_narrowest(here);
    Draft draft{request, *values_, [this](const Grant& grant) { return unusable(grant); }};
    const bool whole =
        draft.inject(here) && draft.substitute(here) && draft.sign(here) && draft.keep_in(*spellings_);
    if (whole) {
        for (const std::string& id : draft.allow()) ++uses_[id];
    }
    return std::move(draft).result();
}

bool Broker::could_be_placeholder(std::string_view text) const {
    return spellings_->find(text).has_value() || spellings_->find_in_name(text).has_value();
}

bool Broker::Scanner::feed(std::string_view chunk) {
    if (seen_ >= kMaxBody) return false;
    seen_ += chunk.size();
    tail_ += chunk;
    if (spellings_->find(tail_)) return true;
    const std::size_t keep = std::min(tail_.size(), 3 * spellings_->longest());
    tail_.erase(0, tail_.size() - keep);
    return false;
}

}  // namespace oyat::secrets
