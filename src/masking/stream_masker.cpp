#include "masking/stream_masker.hpp"

#include <algorithm>
#include <utility>

namespace oyat::masking {

// Reads the text from `from` on; what stands before has been read.
void StreamMasker::search(std::string_view text, std::size_t from) {
    const Automaton& automaton = patterns_->automaton();
    Automaton::State state = state_;
    for (std::size_t at = from; at < text.size();) {
        if (state == Automaton::kStart) at = automaton.skip(text, at);
        state = automaton.step(state, text[at++]);
        if (const Automaton::Match match = automaton.match(state); match.length > 0) {
            const bool shown_before = match.length > at;  // release() gave its beginning out
            cover_.add(shown_before ? 0 : at - match.length, at, patterns_->name(match.name), shown_before);
        }
    }
    state_ = state;
}

void StreamMasker::feed(std::string_view bytes, std::string& out) {
    const std::size_t read = held_.size();
    if (read > 0) held_ += bytes;
    const std::string_view text = read > 0 ? held_ : bytes;
    search(text, read);
    const std::size_t decided = text.size() - std::min(depth(), text.size());
    cover_.write(out, text, decided, tally_);
    if (read > 0) {
        held_.erase(0, decided);
    } else {
        held_.assign(text.substr(decided));
    }
}

void StreamMasker::release(std::string& out) {
    if (!holds_little()) return;
    cover_.write(out, held_, held_.size(), tally_);
    held_.clear();
}

void StreamMasker::finish(std::string& out) {
    const std::size_t begun = std::min(depth(), held_.size());
    if (depth() >= kMuch && begun > 0 && !cover_.hides(held_.size() - begun, held_.size())) {
        cover_.add(held_.size() - begun, held_.size(), "?", true);
    }
    cover_.write(out, held_, held_.size(), tally_);
    held_.clear();
    state_ = Automaton::kStart;
}

void StreamMasker::use(std::shared_ptr<const Patterns> patterns) {
    patterns_ = std::move(patterns);
    state_ = Automaton::kStart;
    search(held_, 0);
}

std::string masked(const std::shared_ptr<const Patterns>& patterns, std::string_view text, Tally& tally) {
    std::string out;
    StreamMasker masker{patterns};
    masker.feed(text, out);
    masker.finish(out);
    tally.add(masker.tally());
    return out;
}

}  // namespace oyat::masking
