#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace oyat::log {

// While it lives, what every line says in its fields passes through `hide`, together with the sandbox that
// the line names, or "". Called from any thread. One at a time.
class Filter {
public:
    using Hide = std::function<std::string(std::string_view sandbox, std::string_view text)>;
    explicit Filter(Hide hide);
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;
    ~Filter();
};

}  // namespace oyat::log
