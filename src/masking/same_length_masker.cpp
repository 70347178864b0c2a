#include "masking/same_length_masker.hpp"

#include <algorithm>
#include <utility>

namespace oyat::masking {

void SameLengthMasker::feed(std::string_view bytes, std::string& out) {
    const Automaton& automaton = patterns_->automaton();
    std::size_t at = held_.size();
    held_ += bytes;
    while (at < held_.size()) {
        if (state_ == Automaton::kStart) at = automaton.skip(held_, at);
        state_ = automaton.step(state_, held_[at++]);
        if (const Automaton::Match match = automaton.match(state_); match.length > 0) {
            const std::size_t from = at - std::min<std::size_t>(match.length, at);
            std::fill(held_.begin() + static_cast<std::ptrdiff_t>(from),
                      held_.begin() + static_cast<std::ptrdiff_t>(at), '*');
            names_.insert(patterns_->name(match.name));
        }
    }
    const std::size_t begun = automaton.depth(state_);
    const std::size_t decided = begun < kMuch ? held_.size() : held_.size() - std::min(begun, held_.size());
    out.append(held_, 0, decided);
    held_.erase(0, decided);
}

void SameLengthMasker::finish(std::string& out) {
    out.append(held_.size(), '*');
    held_.clear();
    state_ = Automaton::kStart;
}

}  // namespace oyat::masking
