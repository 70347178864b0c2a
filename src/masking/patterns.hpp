#pragma once

#include <memory>
#include <string>
#include <vector>

#include "masking/automaton.hpp"
#include "masking/value.hpp"

namespace oyat::masking {

// What a stream is searched for: all shapes of all values, and the names that stand in their place.
class Patterns {
public:
    // Null when there is nothing to look for, so that nobody pays for looking.
    [[nodiscard]] static std::shared_ptr<const Patterns> of(const std::vector<Value>& values);

    [[nodiscard]] const Automaton& automaton() const { return automaton_; }
    [[nodiscard]] const std::string& name(std::uint16_t index) const { return names_[index]; }

private:
    Patterns(std::vector<Automaton::Word> words, std::vector<std::string> names)
        : automaton_{std::move(words)}, names_{std::move(names)} {}

    Automaton automaton_;
    std::vector<std::string> names_;
};

}  // namespace oyat::masking
