#include "keeper/oom_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace oyat::keeper {
namespace {

constexpr int kRecordsAtOnce = 256;

// What stands between `key` and the next comma. The task's name may hold commas: `end` says what follows it
// instead.
std::optional<std::string_view> field(std::string_view text, std::string_view key, std::string_view end) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t from = at + key.size();
    const std::size_t to = end == "," ? text.find(end, from) : text.rfind(end);
    if (to == std::string_view::npos || to < from) return std::nullopt;
    return text.substr(from, to - from);
}

}  // namespace

std::optional<OomVictim> parse_oom_record(std::string_view record) {
    const std::size_t start = record.find(';');
    if (start == std::string_view::npos) return std::nullopt;
    std::string_view text = record.substr(start + 1);
    text = text.substr(0, text.find('\n'));
    if (!text.starts_with("oom-kill:constraint=CONSTRAINT_MEMCG")) return std::nullopt;
    const auto group = field(text, ",task_memcg=", ",");
    const auto name = field(text, ",task=", ",pid=");
    const std::size_t pid_at = text.rfind(",pid=");
    if (!group || !name || pid_at == std::string_view::npos) return std::nullopt;
    OomVictim victim{.group = std::string{*group}, .name = std::string{*name}};
    const std::string_view digits = text.substr(pid_at + 5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), victim.pid);
    if (error != std::errc{}) return std::nullopt;
    return victim;
}

OomLog::OomLog() : log_{::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)} {
    if (log_) ::lseek(log_.get(), 0, SEEK_END);
}

std::vector<OomVictim> OomLog::take() {
    std::vector<OomVictim> victims;
    std::array<char, 8192> record;
    for (int count = 0; count < kRecordsAtOnce; ++count) {
        const ssize_t n = ::read(log_.get(), record.data(), record.size());
        if (n < 0 && errno == EPIPE) continue;  // records were overwritten before we read them
        if (n <= 0) break;
        if (auto victim = parse_oom_record({record.data(), static_cast<std::size_t>(n)})) {
            victims.push_back(*std::move(victim));
        }
    }
    return victims;
}

}  // namespace oyat::keeper
