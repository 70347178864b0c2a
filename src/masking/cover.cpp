#include "masking/cover.hpp"

#include <algorithm>
#include <utility>

namespace oyat::masking {

void Cover::add(std::size_t from, std::size_t to, std::string_view name, bool partial) {
    Span span{.from = from, .to = to, .name = std::string{name}, .partial = partial};
    while (!spans_.empty() && spans_.back().to > span.from) {
        Span& before = spans_.back();
        if (before.written || before.from < span.from) {
            span.from = std::min(span.from, before.from);
            span.name = std::move(before.name);
            span.written = before.written;
        }
        span.to = std::max(span.to, before.to);
        span.partial = span.partial || before.partial;
        spans_.pop_back();
    }
    spans_.push_back(std::move(span));
}

bool Cover::hides(std::size_t from, std::size_t to) const {
    return std::ranges::any_of(spans_, [&](const Span& each) { return each.from <= from && to <= each.to; });
}

std::size_t Cover::end_of_find_at(std::size_t place) const {
    const auto over =
        std::ranges::find_if(spans_, [&](const Span& each) { return each.from < place && place < each.to; });
    return over == spans_.end() ? place : over->to;
}

void Cover::write_mark(std::string& out, Span& span, Tally& tally) {
    if (std::exchange(span.written, true) || last_mark_ == span.name) return;
    out.append("[masked:").append(span.name).append("]");
    last_mark_ = span.name;
    ++tally.count;
    ++tally.by_name[span.name];
    if (span.partial) ++tally.partial;
}

void Cover::write(std::string& out, std::string_view text, std::size_t until, Tally& tally) {
    std::size_t at = 0;
    const auto copy_to = [&](std::size_t end) {
        if (at >= end) return;
        out += text.substr(at, end - at);
        last_mark_.clear();
    };
    auto span = spans_.begin();
    for (; span != spans_.end() && span->from < until; ++span) {
        copy_to(span->from);
        write_mark(out, *span, tally);
        at = std::min(span->to, until);
        if (span->to > until) break;
    }
    copy_to(until);
    spans_.erase(spans_.begin(), span);
    for (Span& each : spans_) {
        each.from -= std::min(each.from, until);
        each.to -= until;
    }
}

}  // namespace oyat::masking
