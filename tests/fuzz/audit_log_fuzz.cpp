// Whatever a log ends in, the next writer goes on with it, and its lines are found again.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "audit/line.hpp"
#include "audit/log.hpp"
#include "audit/segment_file.hpp"
#include "audit/tail.hpp"
#include "base/assert.hpp"

namespace {

using namespace oyat;

Fd file_of(std::string_view text) {
    Fd file{::memfd_create("log", MFD_CLOEXEC)};
    OYAT_ASSERT(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const Fd file = file_of(text);
    const audit::Tail tail = audit::read_tail(file.get());
    OYAT_ASSERT(tail.bytes == size && tail.whole_bytes <= size);

    static const SystemClock clock;
    audit::Log log{"i1", 1, Fd{::dup(file.get())}, clock};
    log.append(R"({"v":1,"type":"command.started"})");
    OYAT_ASSERT(audit::read_tail(file.get()).head == log.head());

    std::uint64_t end = 0;
    audit::for_each_line(file.get(), [&](const audit::RawLine& line) {
        OYAT_ASSERT(line.offset == end);
        end = line.offset + line.size + 1;
        return true;
    });
    OYAT_ASSERT(end == log.bytes());
    return 0;
}
