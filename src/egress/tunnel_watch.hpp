#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace oyat::egress {

// Whether a name looks like data rather than like something a person named: a label of more than 40 bytes,
// or, in front of the registered domain and without its dots, 20 characters and more that are spread as
// evenly as random ones (over 4.0 bit each), or 20 hexadecimal digits in a row (which never reach 4.0).
[[nodiscard]] bool looks_like_data(std::string_view name, std::string_view registered_domain);

// Notices names that carry data out of one sandbox (threats E-06). A single such name is honest often enough
// (content networks use hashes); many distinct ones under one registered domain in ten minutes are not. Then
// the whole domain is refused from there on.
class TunnelWatch {
public:
    static constexpr std::size_t kMaxNames = 100;   // distinct ones that look like data, under one domain
    static constexpr std::size_t kMaxDomains = 64;  // that are watched at a time
    static constexpr std::chrono::minutes kWindow{10};

    enum class Verdict {
        pass,
        found,   // this name is the one too many: refused, and to be told once
        refused  // its domain was found before
    };
    [[nodiscard]] Verdict see(const std::string& name, MonoTime now);

private:
    struct Domain {
        std::map<std::uint64_t, MonoTime> names;  // by digest, when they were asked for last
        bool refused = false;
    };
    [[nodiscard]] Domain* watched(const std::string& domain);

    std::map<std::string, Domain> domains_;
    std::size_t refused_ = 0;
};

}  // namespace oyat::egress
