#include "packages/listing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace oyat::packages {
namespace {

constexpr std::string_view kComplete = "complete", kPartial = "partial";
constexpr std::size_t kFields = 4;
constexpr std::array kEcosystems{Ecosystem::python, Ecosystem::npm, Ecosystem::debian, Ecosystem::cargo,
                                 Ecosystem::go};

std::unexpected<Error> damaged() {
    return refuse(Errc::invalid_argument, "not a list of packages");
}

std::optional<std::array<std::string_view, kFields>> split(std::string_view line) {
    std::array<std::string_view, kFields> fields;
    for (std::size_t at = 0; at < kFields; ++at) {
        const std::size_t tab = line.find('\t');
        if ((tab == std::string_view::npos) != (at + 1 == kFields)) return std::nullopt;
        fields.at(at) = line.substr(0, tab);
        line.remove_prefix(std::min(line.size(), fields.at(at).size() + 1));
    }
    return fields;
}

std::optional<Package> read_package(std::string_view line) {
    const auto fields = split(line);
    if (!fields) return std::nullopt;
    const auto& [ecosystem, name, version, path] = *fields;
    const auto* known = std::ranges::find(kEcosystems, ecosystem, [](Ecosystem e) { return to_string(e); });
    if (known == kEcosystems.end() || !is_plain_name(name) || !is_plain_version(version) ||
        !is_plain_path(path))
        return std::nullopt;
    return Package{.ecosystem = *known,
                   .name = std::string{name},
                   .version = std::string{version},
                   .path = std::string{path}};
}

}  // namespace

std::string to_text(const Listing& listing) {
    constexpr std::size_t kRoomForHead = 64;
    bool complete = listing.complete;
    std::string lines;
    for (const Package& each : listing.packages) {
        std::string line{to_string(each.ecosystem)};
        line.append("\t").append(each.name).append("\t").append(each.version).append("\t");
        line.append(each.path).append("\n");
        if (lines.size() + line.size() + kRoomForHead > Listing::kMaxBytes) {
            complete = false;
            break;
        }
        lines += line;
    }
    return std::string{complete ? kComplete : kPartial} + "\t" + std::to_string(listing.odd) + "\n" + lines;
}

Result<Listing> read_listing(std::string_view text) {
    if (text.size() > Listing::kMaxBytes) return damaged();
    Listing listing;
    bool head = true;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return damaged();
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (std::exchange(head, false)) {
            const std::size_t tab = line.find('\t');
            if (tab == std::string_view::npos) return damaged();
            const std::string_view word = line.substr(0, tab), odd = line.substr(tab + 1);
            const auto [rest, failed] = std::from_chars(odd.data(), odd.data() + odd.size(), listing.odd);
            if (failed != std::errc{} || rest != odd.data() + odd.size()) return damaged();
            if (word != kComplete && word != kPartial) return damaged();
            listing.complete = word == kComplete;
            continue;
        }
        std::optional<Package> package = read_package(line);
        if (!package || listing.packages.size() == Listing::kMaxPackages) return damaged();
        listing.packages.push_back(*std::move(package));
    }
    if (head) return damaged();
    return listing;
}

}  // namespace oyat::packages
