#include "keeper/pem_bundle.hpp"

#include <set>

namespace oyat::keeper {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

std::string without_blanks(std::string_view text) {
    std::string bare;
    for (const char c : text) {
        if (c != '\n' && c != '\r' && c != ' ' && c != '\t') bare += c;
    }
    return bare;
}

}  // namespace

std::vector<std::string> certificates_in(std::string_view pem) {
    std::vector<std::string> found;
    while (true) {
        const std::size_t begin = pem.find(kBegin);
        if (begin == std::string_view::npos) return found;
        const std::size_t end = pem.find(kEnd, begin);
        if (end == std::string_view::npos) return found;
        // Another begin before the end: the first block was cut off.
        const std::size_t again = pem.find(kBegin, begin + kBegin.size());
        if (again < end) {
            pem.remove_prefix(again);
            continue;
        }
        found.push_back(std::string{pem.substr(begin, end + kEnd.size() - begin)} + "\n");
        pem.remove_prefix(end + kEnd.size());
    }
}

std::vector<std::string> certificates_missing(const std::vector<std::string>& present,
                                              const std::vector<std::string>& offered) {
    std::set<std::string> known;
    for (const std::string& each : present) known.insert(without_blanks(each));
    std::vector<std::string> missing;
    for (const std::string& each : offered) {
        if (known.insert(without_blanks(each)).second) missing.push_back(each);
    }
    return missing;
}

}  // namespace oyat::keeper
