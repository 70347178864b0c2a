#include "audit/verify.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "audit/record_json.hpp"
#include "audit/segment_file.hpp"
#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::audit {
namespace {

struct Seal {
    std::uint64_t bytes = 0;
    std::string head;
};
// By chain and segment, the newest seal: it vouches for all that came before it.
using Seals = std::map<std::pair<std::string, std::uint32_t>, Seal>;
using Dropped = std::map<std::string, std::uint32_t>;  // by chain, the highest segment that retention removed

// Walks one chain, segment by segment, until its end or its first line that does not follow.
class Checker {
public:
    Checker(ChainReport& report, Seals& seals, Dropped& dropped)
        : report_{report}, seals_{seals}, dropped_{dropped} {}

    void check_segment(const SegmentFile& segment, bool newest) {
        file_name_ = segment.path.filename().native();
        file_ = Fd{sys(::open(segment.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW),
                       "open " + segment.path.native())};
        line_ = 0;
        bad_.reset();
        seal_ = find_seal(segment.name);
        const auto& name = segment.name;
        if (name.segment != report_.last_segment + 1 && report_.lines > 0) {
            report_.broken = Finding{.file = file_name_, .sentence = "the segment before it is missing"};
            return;
        }
        if (report_.lines == 0) report_.first_segment = name.segment;
        report_.last_segment = name.segment;
        for_each_line(file_.get(), [&](const RawLine& line) { return take(line, name, newest); });
        if (report_.broken) return;
        if (bad_) report_.broken = std::exchange(bad_, std::nullopt);
        if (seal_)
            report_.missing = "segment " + std::to_string(name.segment) + " was sealed with " +
                              std::to_string(seal_->bytes) + " bytes that are not there, or are others";
    }

private:
    [[nodiscard]] std::optional<Seal> find_seal(const SegmentName& name) const {
        const auto found = seals_.find({name.chain, name.segment});
        return found == seals_.end() ? std::nullopt : std::optional{found->second};
    }

    bool take(const RawLine& raw, const SegmentName& name, bool newest) {
        ++line_;
        const Result<Line> line =
            raw.cut() ? refuse(Errc::invalid_argument, "longer than any line") : parse_line(raw.text);
        if (line && line_ == 1 && !begin(line->record, name)) return false;
        if (line && hasher_.chained(report_.head, line->record) == line->head) return follow(*line, raw);
        // The newest line may be in the middle of being written.
        if (!raw.ended && newest && !bad_) return true;
        if (!bad_) {
            bad_ = Finding{
                .file = file_name_,
                .line = line_,
                .offset = raw.offset,
                .sentence =
                    line ? "it does not follow from the line before it: one of the two was changed, or lines "
                           "between them were removed or inserted"
                         : line.error().message()};
        }
        return true;
    }

    // The first line of a segment says from which line it goes on. For the first segment that is left there
    // is nothing to compare it with but the seals.
    bool begin(std::string_view text, const SegmentName& name) {
        const boost::json::object record = parse_record(text);
        const auto previous = digest_from_hex(text_of(record, "previous"));
        const bool fits = text_of(record, "type") == "audit.segment" && previous &&
                          text_of(record, "chain") == name.chain &&
                          number_of(record, "segment") == name.segment;
        const bool first = report_.lines == 0;
        const Digest expected = first && name.segment > 1 && previous ? *previous : report_.head;
        if (!fits || *previous != expected) {
            report_.broken = Finding{
                .file = file_name_, .line = 1, .sentence = "it does not begin as this segment should"};
            return false;
        }
        report_.head = expected;
        return true;
    }

    bool follow(const Line& line, const RawLine& raw) {
        const bool own = line.record.starts_with("{\"v\":1,\"type\":\"audit.");
        const boost::json::object record = own ? parse_record(line.record) : boost::json::object{};
        if (bad_ && !covers(record, raw)) {
            report_.broken = std::exchange(bad_, std::nullopt);
            return false;
        }
        report_.head = line.head;
        report_.bytes += raw.size + 1;
        ++report_.lines;
        report_.closed =
            own && text_of(record, "type") == "audit.sealed" && text_of(record, "reason") == "end";
        if (own) note(record);
        if (seal_ && raw.offset + raw.size + 1 == seal_->bytes && to_hex(line.head) == seal_->head)
            seal_.reset();
        return true;
    }

    // A torn line is harmless when the next whole one says exactly which bytes were torn.
    bool covers(const boost::json::object& record, const RawLine& raw) {
        const std::uint64_t at = number_of(record, "at");
        const std::uint64_t bytes = number_of(record, "bytes");
        if (text_of(record, "type") != "audit.gap" || text_of(record, "reason") != "torn" ||
            at != bad_->offset || bytes > 4 * kLongestLine || at + bytes + 1 != raw.offset) {
            return false;
        }
        std::string torn(bytes, '\0');
        const ssize_t count =
            sys(::pread(file_.get(), torn.data(), bytes, static_cast<off_t>(at)), "read a torn line");
        if (static_cast<std::uint64_t>(count) != bytes ||
            to_hex(hasher_.plain(torn)) != text_of(record, "sha256")) {
            return false;
        }
        report_.gaps.push_back("a line was torn at byte " + std::to_string(at) + " of " + file_name_);
        bad_.reset();
        return true;
    }

    void note(const boost::json::object& record) {
        const std::string type = text_of(record, "type");
        if (type == "audit.gap" && text_of(record, "reason") != "torn") {
            report_.gaps.push_back(text_of(record, "reason") + " in line " + std::to_string(line_) + " of " +
                                   file_name_);
        }
        if (report_.chain != kServerChain) return;
        const std::string chain = text_of(record, "chain");
        const auto segment = static_cast<std::uint32_t>(number_of(record, "segment"));
        if (type == "audit.sealed")
            seals_[{chain, segment}] = {number_of(record, "bytes"), text_of(record, "h")};
        if (type == "audit.dropped") dropped_[chain] = std::max(dropped_[chain], segment);
    }

    ChainReport& report_;
    Seals& seals_;
    Dropped& dropped_;
    Hasher hasher_;
    std::string file_name_;
    Fd file_;
    std::uint64_t line_ = 0;
    std::optional<Finding> bad_;
    std::optional<Seal> seal_;
};

ChainReport check_chain(std::span<const SegmentFile> segments, Seals& seals, Dropped& dropped) {
    ChainReport report{.chain = segments.front().name.chain};
    Checker checker{report, seals, dropped};
    for (const SegmentFile& segment : segments) {
        checker.check_segment(segment, &segment == &segments.back());
        if (report.broken) break;
    }
    return report;
}

// What the server's chain has sealed but nobody can show any more.
void add_missing_chains(Report& report, const Seals& seals, const Dropped& dropped) {
    for (const auto& [name, seal] : seals) {
        const auto& [chain, segment] = name;
        const auto kept = std::ranges::find(report.chains, chain, &ChainReport::chain);
        const auto gone = dropped.find(chain);
        const std::uint32_t dropped_up_to = gone == dropped.end() ? 0 : gone->second;
        if (segment <= dropped_up_to) continue;
        if (kept == report.chains.end()) {
            report.chains.push_back({.chain = chain, .missing = "it was sealed, and its files are gone"});
        } else if (!kept->missing && !kept->broken &&
                   (segment < kept->first_segment || segment > kept->last_segment)) {
            kept->missing = "segment " + std::to_string(segment) + " was sealed, and its file is gone";
        }
    }
}

Report verify_directory(const std::filesystem::path& directory) {
    const std::vector<SegmentFile> files = list_segments(directory);
    std::vector<std::span<const SegmentFile>> chains;
    for (std::size_t i = 0; i < files.size();) {
        std::size_t end = i;
        while (end < files.size() && files[end].name.chain == files[i].name.chain) ++end;
        chains.emplace_back(files.data() + i, end - i);
        i = end;
    }
    // The server's chain first: it has the seals of all others, which only grow while we read.
    std::ranges::sort(chains, {}, [](const auto& chain) {
        const std::string& name = chain.front().name.chain;
        return std::pair{name != kServerChain, name};
    });
    Report report;
    Seals seals;
    Dropped dropped;
    for (const auto& chain : chains) report.chains.push_back(check_chain(chain, seals, dropped));
    add_missing_chains(report, seals, dropped);
    return report;
}

}  // namespace

Report verify(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) return verify_directory(path);
    auto name = parse_segment_name(path.filename().native());
    if (!name) {
        throw Error{Errc::invalid_argument,
                    path.native() + " is not named like a log: <sandbox id>.<six digits>.log"};
    }
    const SegmentFile segment{.name = *std::move(name), .path = path};
    Seals seals;
    Dropped dropped;
    return Report{.chains = {check_chain({&segment, 1}, seals, dropped)}};
}

bool Report::sound() const {
    return std::ranges::none_of(chains,
                                [](const ChainReport& chain) { return chain.broken || chain.missing; });
}

std::string Report::text() const {
    std::string out;
    for (const ChainReport& chain : chains) {
        out += chain.chain + ": ";
        if (chain.broken) {
            out += "BROKEN at line " + std::to_string(chain.broken->line) + " (byte " +
                   std::to_string(chain.broken->offset) + ") of " + chain.broken->file + ": " +
                   chain.broken->sentence + "; the " + std::to_string(chain.lines) + " lines before it hold";
        } else if (chain.missing) {
            out += "INCOMPLETE: " + *chain.missing;
        } else {
            out += std::to_string(chain.lines) + " lines hold, head " + to_hex(chain.head) +
                   (chain.closed ? ", closed" : ", open");
        }
        if (chain.first_segment > 1) out += ", begins at segment " + std::to_string(chain.first_segment);
        for (const std::string& gap : chain.gaps) out += "\n  gap: " + gap;
        out += '\n';
    }
    return out;
}

}  // namespace oyat::audit
