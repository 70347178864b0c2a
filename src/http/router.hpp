#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"

namespace oyat::http {

// Decoded values of the {names} in a route's pattern.
using PathValues = std::map<std::string, std::string>;
using RouteHandler = std::function<Task<>(Exchange&, const PathValues&)>;

// Method and path pattern to handler: "/v2/sandboxes/{id}/connect". A value is one whole segment,
// percent-decoded; one that decodes to something with '/' or NUL, or has invalid escapes, matches no route.
// {name*} at the end of a pattern takes the whole rest of the path, which may have '/' and be empty. Words go
// before names, names before rests. HEAD is answered by GET's handler where it has none of its own.
class Router {
public:
    void add(std::string method, std::string pattern, RouteHandler handler);

    struct Match {
        const RouteHandler* handler = nullptr;  // null: nothing fits
        PathValues values;
        bool path_known = false;  // some other method would fit: 405 rather than 404
        const std::string* pattern = nullptr;
    };
    [[nodiscard]] Match find(std::string_view method, std::string_view path) const;

    // All routes as "METHOD pattern": tests walk them, so that a new one without a rule fails (threats C-01).
    [[nodiscard]] std::vector<std::string> routes() const;

private:
    struct Route {
        std::string method;
        std::string pattern;
        std::vector<std::string> segments;
        RouteHandler handler;
    };
    std::vector<Route> routes_;
};

}  // namespace oyat::http
