#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// What the templates are called: DIR/names/<name>, a file that holds a digest. A name stands for one digest,
// a digest may have any number of names. Other processes may change them at the same time: each change is
// made under a lock, and is there in full or not at all, also after a crash.
class TemplateNames {
public:
    explicit TemplateNames(int templates);

    [[nodiscard]] std::optional<std::string> digest_of(std::string_view name) const;
    // The names of each digest that has any, sorted.
    [[nodiscard]] std::map<std::string, std::vector<std::string>> by_digest() const;

    // From here on `name` stands for `digest`, whatever it stood for before.
    void point(const std::string& name, const std::string& digest) const;
    // Takes away all names of a digest.
    void drop(std::string_view digest) const;

private:
    [[nodiscard]] Fd lock() const;

    Fd dir_;
};

}  // namespace oyat::layers
