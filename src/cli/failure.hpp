#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace oyat::cli {

// What goes wrong in a command, with what to do about it. Printed as "error: ..." and "hint: ...".
class Failure : public Error {
public:
    Failure(Error error, std::string hint) : Error{std::move(error)}, hint_{std::move(hint)} {}

    // Of oyatd's {"error":{...}}. `status` says what kind it is when the body does not.
    static Failure from_answer(int status, const std::string& body);

    [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

private:
    std::string hint_;
};

// What to do about an error that nobody had a hint for; "" when there is nothing to say.
[[nodiscard]] std::string hint_for(const Error& error);

// The words for whose fault something was.
[[nodiscard]] std::vector<std::string> fault_names();

// Prints the error the way it was asked for: as text on standard error, or as JSON on standard output.
void print_failure(const Error& error, const std::string& hint, bool json);

}  // namespace oyat::cli
