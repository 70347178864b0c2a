#pragma once

#include <boost/json/array.hpp>
#include <map>
#include <set>
#include <string>

#include "core/store.hpp"

namespace oyat::egress {

// The pins of sandboxes over a restart of oyatd: without them a program that looked a name up before could no
// longer connect to it. Written down by each outlet while they change, given back to the next one.
class KeptPins {
public:
    explicit KeptPins(core::Store& store) : store_{store} {}

    Task<> load();  // what an earlier oyatd wrote down; before the first take()
    [[nodiscard]] boost::json::array take(const std::string& sandbox);
    Task<> save(std::string sandbox, boost::json::array pins);
    Task<> forget(std::string sandbox);
    Task<> forget_untaken();  // of sandboxes that are no more

private:
    core::Store& store_;
    std::map<std::string, boost::json::array> untaken_;
    std::set<std::string> saved_;  // sandboxes with an item in the store
};

}  // namespace oyat::egress
