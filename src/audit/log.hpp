#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "audit/line.hpp"
#include "base/clock.hpp"
#include "base/fd.hpp"

namespace oyat::audit {

// One chain, open for appending in its newest segment. The file is append-only for us: nothing that was
// written can be changed, not even a line that was torn by a full disk; such a line is followed by an
// audit.gap that covers it.
class Log {
public:
    // Goes on where the file ends; a new file gets its first line. Throws Error.
    Log(std::string chain, std::uint32_t segment, Fd file, const Clock& clock);

    // One write, in the page cache when it returns. Throws Error (exhausted: no space); the chain is then as
    // before.
    void append(std::string_view record);
    // A line of the log's own. Numbers are those of events, which all chains share: such a line repeats the
    // last one.
    void append_own(std::string_view type, boost::json::object fields, std::uint64_t last_seq);
    // From now on in the next segment, whose first line names the last of this one. Throws Error; the chain
    // then goes on in this one, and the next may be tried again.
    void continue_in(Fd next, std::uint64_t last_seq);

    [[nodiscard]] const std::string& chain() const { return chain_; }
    [[nodiscard]] std::uint32_t segment() const { return at_.segment; }
    [[nodiscard]] const Digest& head() const { return head_; }
    [[nodiscard]] std::uint64_t bytes() const { return at_.whole_bytes; }
    // Into this segment, by this process.
    [[nodiscard]] std::uint64_t lines_written() const { return at_.lines; }
    [[nodiscard]] const std::string& last_type() const { return last_type_; }
    [[nodiscard]] std::uint64_t seq_found() const {
        return seq_found_;
    }  // of the last line when it was opened
    // Shared with a running fdatasync, which must not find the descriptor closed and given to somebody else.
    [[nodiscard]] std::shared_ptr<const Fd> file() const { return at_.file; }

private:
    struct Place {
        std::uint32_t segment = 0;
        std::shared_ptr<const Fd> file;
        std::uint64_t whole_bytes = 0;
        std::uint64_t torn_bytes = 0;  // that stand in the file after the last whole line
        std::uint64_t lines = 0;
    };

    void resume(std::uint64_t last_seq);
    void begin_segment(std::uint64_t last_seq);
    [[nodiscard]] std::string own_record(std::string_view type, boost::json::object fields,
                                         std::uint64_t last_seq) const;
    void append_line(std::string_view record, std::string_view before);
    void write(std::string_view text);
    void cover_torn_bytes();

    std::string chain_;
    const Clock& clock_;
    Place at_;
    Hasher hasher_;
    Digest head_{};
    std::uint64_t seq_found_ = 0;
    std::string last_type_;
};

}  // namespace oyat::audit
