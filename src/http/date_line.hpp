#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace oyat::http {

// "Date: Mon, 30 Nov 2026 10:02:03 GMT\r\n", made once a second.
class DateLine {
public:
    [[nodiscard]] std::string_view now();
    // The same without the name and the line's end.
    [[nodiscard]] std::string_view value();

private:
    std::time_t made_for_ = -1;
    std::string line_;
};

}  // namespace oyat::http
