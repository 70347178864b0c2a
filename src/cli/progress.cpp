#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>

#include "cli/format.hpp"
#include "cli/terminal.hpp"

namespace oyat::cli {
namespace {

constexpr Millis kPatience{1000}, kPause{200};
constexpr const char* kClearLine = "\r\x1b[K";

MonoTime mono_now() {
    return SystemClock{}.mono();
}

}  // namespace

std::string show_progress(std::string name, std::uint64_t bytes, std::optional<std::uint64_t> total,
                          Millis since, std::size_t width) {
    std::string line = "  " + show_bytes(bytes);
    if (total) line += " of " + show_bytes(*total);
    const auto ms = static_cast<std::uint64_t>(std::max<Millis::rep>(since.count(), 1));
    line += "  " + show_bytes(bytes * 1000 / ms) + "/s";
    const std::size_t room = width > line.size() ? width - line.size() : 0;
    if (name.size() > room) name.resize(room);
    return name + line;
}

Progress::Progress(Where where) : on_{where == Where::terminal && ::isatty(STDERR_FILENO) == 1} {}

Progress::~Progress() {
    if (shown_) print_to(STDERR_FILENO, kClearLine);
}

void Progress::begin(std::string name, std::optional<std::uint64_t> total) {
    name_ = printable(name);
    total_ = total;
    bytes_ = 0;
    began_ = mono_now();
    // Of many small files, too, one hears after a second.
    if (next_ == MonoTime{}) next_ = began_ + kPatience;
}

void Progress::add(std::uint64_t bytes) {
    bytes_ += bytes;
    if (!on_) return;
    if (const MonoTime now = mono_now(); now >= next_) show(now);
}

void Progress::show(MonoTime now) {
    const auto since = std::chrono::duration_cast<Millis>(now - began_);
    // One column less: a full line would wrap.
    print_to(STDERR_FILENO,
             kClearLine + show_progress(name_, bytes_, total_, since, terminal_size().cols - 1));
    shown_ = true;
    next_ = now + kPause;
}

}  // namespace oyat::cli
