#include "engine/microvm/memory_stream.hpp"

#include <algorithm>
#include <string>

#include "base/throwing.hpp"

// The format is QEMU's docs/devel/migration and migration/ram.c: big-endian, and the same from 2.x to 9.x for
// what a stopped machine's plain save consists of.
namespace oyat::microvm {
namespace {

constexpr std::uint64_t kPage = 4096;
// What a record of the section `ram` is, in the low bits of its address.
constexpr std::uint64_t kZero = 0x02;       // one byte: what the page is full of
constexpr std::uint64_t kBlocks = 0x04;     // names and sizes of all blocks
constexpr std::uint64_t kPlain = 0x08;      // the page
constexpr std::uint64_t kEnd = 0x10;        // of this part of the section
constexpr std::uint64_t kSameBlock = 0x20;  // as the record before, else its name follows
// Types of what a stream is made of.
constexpr char kSectionStart = 0x01;
constexpr char kSectionPart = 0x02;
constexpr char kSectionEnd = 0x03;
constexpr char kFooter = 0x7e;
// Name, instance and version of the section, after its type and number.
constexpr std::string_view kRamSection{"\x03ram\0\0\0\0\0\0\0\x04", 12};
constexpr std::size_t kSectionHead = 5;         // type and number
constexpr std::size_t kMostBefore = 64 * 1024;  // configuration and capabilities
constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr std::size_t kMostBlocks = 64;

[[noreturn]] void refuse_stream(const std::string& why) {
    throw Error{Errc::failed_precondition, Fault::engine, "what QEMU saved is not understood: " + why};
}

class Splitter {
public:
    Splitter(const StreamSource& source, std::string_view block, std::uint64_t memory_bytes,
             const StreamSinks& sinks)
        : source_{source}, block_{block}, memory_bytes_{memory_bytes}, sinks_{sinks} {}

    void run() {
        copy_to_ram_section();
        part();
        for (bool last = false; !last;) {
            last = next_part();
            part();
        }
        footer();
        copy_rest();
    }

private:
    // The next bytes, without taking them.
    std::string_view look(std::size_t count) {
        while (buffer_.size() - used_ < count) {
            buffer_.erase(0, used_);
            used_ = 0;
            const std::size_t had = buffer_.size();
            buffer_.resize(had + kBuffer);
            const std::size_t got = source_(buffer_.data() + had, kBuffer);
            buffer_.resize(had + got);
            if (got == 0) refuse_stream("it ends too early");
        }
        return std::string_view{buffer_}.substr(used_, count);
    }
    std::string_view take(std::size_t count) {
        const std::string_view bytes = look(count);
        used_ += count;
        return bytes;
    }
    static std::uint64_t number(std::string_view bytes) {
        std::uint64_t value = 0;
        for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }
    std::string take_name() {
        const std::size_t length = number(take(1));
        return std::string{take(length)};
    }

    void copy_to_ram_section() {
        std::size_t at = std::string_view::npos;
        for (std::size_t have = kSectionHead + kRamSection.size(); at == std::string_view::npos; ++have) {
            if (have > kMostBefore) refuse_stream("it has no memory");
            if (look(have).ends_with(kRamSection)) at = have - kRamSection.size();
        }
        const std::string_view head = look(at).substr(at - kSectionHead);
        if (head[0] != kSectionStart) refuse_stream("memory at an odd place");
        section_ = head.substr(1);
        sinks_.state(take(at + kRamSection.size()));
    }

    void footer() {
        const std::string_view bytes = take(kSectionHead);
        if (bytes[0] != kFooter || bytes.substr(1) != section_) refuse_stream("a section without its footer");
        sinks_.state(bytes);
    }

    // Whether it is the last one.
    bool next_part() {
        footer();
        const std::string_view head = take(kSectionHead);
        const char type = head[0];
        if ((type != kSectionPart && type != kSectionEnd) || head.substr(1) != section_) {
            refuse_stream("something between the parts of its memory");
        }
        sinks_.state(head);
        return type == kSectionEnd;
    }

    void part() {
        for (;;) {
            const std::string head{take(8)};
            const std::uint64_t flags = number(head) % kPage;
            const std::uint64_t at = number(head) - flags;
            if (flags == kEnd) return sinks_.state(head);
            if (flags == kBlocks) {
                list_of_blocks(head, at);
            } else if (flags == kZero || flags == (kZero | kSameBlock)) {
                record(flags, at, take_block(flags), 1);
            } else if (flags == kPlain || flags == (kPlain | kSameBlock)) {
                record(flags, at, take_block(flags), kPage);
            } else {
                refuse_stream("a record of memory of kind " + std::to_string(flags));
            }
        }
    }

    void list_of_blocks(std::string_view head, std::uint64_t total) {
        sinks_.state(head);
        std::uint64_t listed = 0;
        for (std::size_t count = 0; listed < total; ++count) {
            const std::string name = take_name();
            const std::string size{take(8)};
            if (count == kMostBlocks || number(size) > total - listed) refuse_stream("its list of blocks");
            listed += number(size);
            if (name == block_ && number(size) != memory_bytes_) refuse_stream("the size of its memory");
            sinks_.state(std::string(1, static_cast<char>(name.size())) + name + size);
        }
    }

    bool take_block(std::uint64_t flags) {
        if ((flags & kSameBlock) == 0) current_ = take_name();
        return current_ == block_;
    }

    void record(std::uint64_t flags, std::uint64_t at, bool is_memory, std::size_t size) {
        const std::string_view content = take(size);
        if (!is_memory) return keep(flags, at, content);
        if (memory_bytes_ < kPage || at > memory_bytes_ - kPage) refuse_stream("a page beyond its memory");
        if (size == kPage) return sinks_.page(at, content);
        if (content[0] != '\0') sinks_.page(at, std::string(kPage, content[0]));
    }

    // By its full name: the record before may be gone.
    void keep(std::uint64_t flags, std::uint64_t at, std::string_view content) {
        std::string bytes;
        const std::uint64_t word = at | (flags & ~kSameBlock);
        for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
        bytes.push_back(static_cast<char>(current_.size()));
        sinks_.state(bytes += current_);
        sinks_.state(content);
    }

    void copy_rest() {
        sinks_.state(std::string_view{buffer_}.substr(used_));
        buffer_.resize(kBuffer);
        while (const std::size_t got = source_(buffer_.data(), buffer_.size())) {
            sinks_.state(std::string_view{buffer_}.substr(0, got));
        }
    }

    const StreamSource& source_;
    const std::string_view block_;
    const std::uint64_t memory_bytes_;
    const StreamSinks& sinks_;
    std::string buffer_;
    std::size_t used_ = 0;
    std::string section_;  // the number of the section `ram`
    std::string current_;  // the block of the record before
};

}  // namespace

void split_memory(const StreamSource& source, std::string_view block, std::uint64_t memory_bytes,
                  const StreamSinks& sinks) {
    Splitter{source, block, memory_bytes, sinks}.run();
}

}  // namespace oyat::microvm
