#include "http/date_line.hpp"

#include <array>

namespace oyat::http {

std::string_view DateLine::now() {
    const std::time_t time = std::time(nullptr);
    if (time != made_for_) {
        std::tm parts{};
        ::gmtime_r(&time, &parts);
        std::array<char, 64> text{};
        // The program never calls setlocale, so the names are English.
        const std::size_t size =
            std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
        line_.assign(text.data(), size);
        made_for_ = time;
    }
    return line_;
}

std::string_view DateLine::value() {
    constexpr std::string_view kName = "Date: ";
    std::string_view line = now();
    line.remove_prefix(kName.size());
    line.remove_suffix(2);
    return line;
}

}  // namespace oyat::http
