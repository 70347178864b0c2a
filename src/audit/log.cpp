#include "audit/log.hpp"

#include <unistd.h>

#include <utility>

#include "audit/record_json.hpp"
#include "audit/segment_file.hpp"
#include "audit/tail.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "core/event_json.hpp"

namespace oyat::audit {
namespace {

constexpr int kFormatVersion = 1;

// Every record is written by core::to_json_text, which begins with this.
std::string type_of(std::string_view record) {
    constexpr std::string_view kBegin = "{\"v\":1,\"type\":\"";
    if (!record.starts_with(kBegin)) return "";
    record.remove_prefix(kBegin.size());
    return std::string{record.substr(0, record.find('"'))};
}

}  // namespace

Log::Log(std::string chain, std::uint32_t segment, Fd file, const Clock& clock)
    : chain_{std::move(chain)},
      clock_{clock},
      at_{.segment = segment, .file = std::make_shared<const Fd>(std::move(file))} {
    resume(0);
}

void Log::resume(std::uint64_t last_seq) {
    const Tail tail = read_tail(at_.file->get());
    if (tail.bytes == 0) return begin_segment(last_seq);
    at_.whole_bytes = tail.whole_bytes;
    at_.torn_bytes = tail.bytes - tail.whole_bytes;
    // Not even its first line is whole: what is torn is covered, and the chain goes on from where it was.
    if (tail.whole_bytes == 0) return cover_torn_bytes();
    head_ = tail.head;
    last_type_ = type_of(tail.record);
    seq_found_ = number_of(parse_record(tail.record), "seq");
    if (tail.newline_lost) write("\n");
    if (at_.torn_bytes > 0) cover_torn_bytes();
    if (!tail.sound) {
        log::error("the last line of a log does not follow from the one before", {{"chain", chain_}});
        append_own("audit.gap", {{"reason", "broken"}}, seq_found_);
    }
}

void Log::begin_segment(std::uint64_t last_seq) {
    append_own("audit.segment",
               {{"chain", chain_},
                {"segment", at_.segment},
                {"previous", to_hex(head_)},
                {"version", kFormatVersion}},
               last_seq);
}

void Log::append(std::string_view record) {
    if (at_.torn_bytes > 0) cover_torn_bytes();
    append_line(record, "");
}

void Log::append_own(std::string_view type, boost::json::object fields, std::uint64_t last_seq) {
    append(own_record(type, std::move(fields), last_seq));
}

void Log::continue_in(Fd next, std::uint64_t last_seq) {
    const Place before = at_;
    at_ = {.segment = before.segment + 1, .file = std::make_shared<const Fd>(std::move(next))};
    try {
        resume(last_seq);
    } catch (const Error&) {
        at_ = before;
        throw;
    }
}

std::string Log::own_record(std::string_view type, boost::json::object fields, std::uint64_t last_seq) const {
    core::Event event;
    event.type = type;
    if (!chain_.starts_with(kServerChain)) event.sandbox = chain_;
    event.fields = std::move(fields);
    event.seq = last_seq;
    event.time = clock_.wall();
    event.mono_ns = std::chrono::nanoseconds{clock_.mono().time_since_epoch()}.count();
    return core::to_json_text(event);
}

void Log::append_line(std::string_view record, std::string_view before) {
    const Digest head = hasher_.chained(head_, record);
    const std::string line = std::string{before} + make_line(head, record);
    if (line.size() > kLongestLine) throw Error{Errc::internal, "a record is longer than a line may be"};
    write(line);
    head_ = head;
    last_type_ = type_of(record);
    ++at_.lines;
}

// A short write leaves the begun line in the file for good.
void Log::write(std::string_view text) {
    const ssize_t written = ::write(at_.file->get(), text.data(), text.size());
    const int err = written < 0 ? errno : ENOSPC;
    if (written == static_cast<ssize_t>(text.size())) {
        at_.whole_bytes += std::exchange(at_.torn_bytes, 0) + text.size();
        return;
    }
    if (written > 0) at_.torn_bytes += static_cast<std::uint64_t>(written);
    throw errno_error(err, "write the record of " + chain_);
}

// The mark makes sure that what was torn can never be read as a whole line, even if only its newline was
// missing: its caller was told that it is not in the record.
void Log::cover_torn_bytes() {
    constexpr std::string_view kMark = "!";
    std::string torn(at_.torn_bytes, '\0');
    const ssize_t count =
        sys(::pread(at_.file->get(), torn.data(), torn.size(), static_cast<off_t>(at_.whole_bytes)),
            "read the torn end of " + chain_);
    torn.resize(static_cast<std::size_t>(count));
    torn += kMark;
    const std::string gap = own_record("audit.gap",
                                       {{"reason", "torn"},
                                        {"at", at_.whole_bytes},
                                        {"bytes", torn.size()},
                                        {"sha256", to_hex(hasher_.plain(torn))}},
                                       seq_found_);
    append_line(gap, std::string{kMark} + "\n");
    log::warn("a line of a log was torn", {{"chain", chain_}, {"bytes", torn.size()}});
}

}  // namespace oyat::audit
