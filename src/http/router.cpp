#include "http/router.hpp"

#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "http/url.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kMaxSegments = 64;  // of a request; no pattern comes near

using Segments = std::vector<std::string_view>;

// "/a/b" gives "a", "b"; "/a/" gives "a", "".
Segments split(std::string_view path) {
    Segments segments;
    while (!path.empty() && segments.size() < kMaxSegments) {
        path.remove_prefix(1);
        const auto end = std::min(path.find('/'), path.size());
        segments.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return segments;
}

bool is_name(std::string_view segment) {
    return segment.starts_with('{') && segment.ends_with('}');
}
bool is_rest(std::string_view segment) {
    return segment.starts_with('{') && segment.ends_with("*}");
}

std::string name_of(std::string_view segment) {
    return std::string{segment.substr(1, segment.size() - (is_rest(segment) ? 3 : 2))};
}

// Nothing when the text must not become a value.
std::optional<std::string> value_of(std::string_view text, bool may_have_slash) {
    Result<std::string> value = percent_decode(text);
    if (!value || value->find('\0') != value->npos) return std::nullopt;
    if (!may_have_slash && value->find('/') != value->npos) return std::nullopt;
    return *std::move(value);
}

std::optional<PathValues> match(const std::vector<std::string>& pattern, const Segments& path) {
    PathValues values;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (i >= path.size()) return std::nullopt;
        if (is_rest(pattern[i])) {
            const char* begin = path[i].data();
            const char* end = path.back().data() + path.back().size();
            auto value = value_of({begin, static_cast<std::size_t>(end - begin)}, true);
            if (!value) return std::nullopt;
            values.emplace(name_of(pattern[i]), *std::move(value));
            return values;
        }
        if (is_name(pattern[i])) {
            auto value = path[i].empty() ? std::nullopt : value_of(path[i], false);
            if (!value) return std::nullopt;
            values.emplace(name_of(pattern[i]), *std::move(value));
        } else if (pattern[i] != path[i]) {
            return std::nullopt;
        }
    }
    if (path.size() != pattern.size()) return std::nullopt;
    return values;
}

// Words before names before rests, from the left: "/a/metrics" goes before "/a/{id}".
bool is_closer(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto rank = [](std::string_view segment) {
        return is_rest(segment) ? 2 : is_name(segment) ? 1 : 0;
    };
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (rank(a[i]) != rank(b[i])) return rank(a[i]) < rank(b[i]);
    }
    return a.size() > b.size();
}

}  // namespace

void Router::add(std::string method, std::string pattern, RouteHandler handler) {
    OYAT_ASSERT(pattern.starts_with('/'));
    std::vector<std::string> segments;
    for (const std::string_view segment : split(pattern)) segments.emplace_back(segment);
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) OYAT_ASSERT(!is_rest(segments[i]));
    routes_.push_back({std::move(method), std::move(pattern), std::move(segments), std::move(handler)});
}

Router::Match Router::find(std::string_view method, std::string_view path) const {
    Match best;
    if (!path.starts_with('/')) return best;
    const Segments segments = split(path);
    const Route* chosen = nullptr;
    for (const Route& route : routes_) {
        const bool answers_head = method == "HEAD" && route.method == "GET";
        const bool fits = route.method == method || answers_head;
        if (!fits && best.path_known) continue;
        // A route for HEAD itself wins over its GET.
        if (fits && chosen != nullptr && !is_closer(route.segments, chosen->segments) &&
            (answers_head || chosen->method == method)) {
            continue;
        }
        std::optional<PathValues> values = match(route.segments, segments);
        if (!values) continue;
        best.path_known = true;
        if (fits) {
            chosen = &route;
            best.values = *std::move(values);
        }
    }
    if (chosen != nullptr) {
        best.handler = &chosen->handler;
        best.pattern = &chosen->pattern;
    }
    return best;
}

std::vector<std::string> Router::routes() const {
    std::vector<std::string> all;
    all.reserve(routes_.size());
    for (const Route& route : routes_) all.push_back(route.method + " " + route.pattern);
    return all;
}

}  // namespace oyat::http
