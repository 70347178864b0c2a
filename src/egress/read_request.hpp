#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "egress/interception.hpp"
#include "egress/request_facts.hpp"

namespace oyat::egress {

// A request from its judgement to the end of its answer.
struct Interception::UnderWay {
    UnderWay(Interception& owner, std::string name, const http::RequestHead& head)
        : interception{owner},
          host{std::move(name)},
          methods{possible_methods(head)},
          target{policy::CanonicalTarget::of(head.target)} {
        interception.under_way_.insert(this);
    }
    ~UnderWay() { interception.under_way_.erase(this); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    Interception& interception;
    std::string host;  // "" when the request names the address
    std::vector<std::string> methods;
    std::optional<policy::CanonicalTarget> target;
    std::optional<policy::Push> push;  // when a rule asks for it
    std::string push_problem;          // why that could not be read
    std::string began;                 // of the body: what was read for it
};

// At most a few of the refs of a push, each of bounded length.
[[nodiscard]] boost::json::array refs_for_record(const std::vector<std::string>& refs,
                                                 const http::RequestTransform* transform);

}  // namespace oyat::egress
