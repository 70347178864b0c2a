#include "cli/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdlib>

#include "base/json_escape.hpp"

namespace oyat::cli {

bool try_print_to(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        // Whoever shares the terminal with us may have made it non-blocking.
        if (n < 0 && errno == EAGAIN) {
            pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
            (void)::poll(&writable, 1, -1);
            continue;
        }
        if (n < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

void print_to(int fd, std::string_view text) {
    if (!try_print_to(fd, text)) ::_exit(errno == EPIPE ? 0 : 1);
}

void print(std::string_view text) {
    print_to(STDOUT_FILENO, text);
}

std::string printable(std::string_view text) {
    std::string safe{is_utf8(text) ? text : std::string_view{}};
    if (safe.empty()) {
        // Not UTF-8: what is not ASCII cannot be told from a control character either.
        for (const char c : text) safe += static_cast<unsigned char>(c) < 0x80 ? c : '?';
    }
    for (std::size_t i = 0; i < safe.size(); ++i) {
        const auto byte = static_cast<unsigned char>(safe[i]);
        if (byte < 0x20 || byte == 0x7F) safe[i] = '?';
        // U+0080..U+009F, the second set of control characters.
        if (byte == 0xC2 && i + 1 < safe.size() && static_cast<unsigned char>(safe[i + 1]) < 0xA0) {
            safe.replace(i, 2, "?");
        }
    }
    return safe;
}

Paint::Paint(int fd) : on_{::isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr} {}

std::string Paint::wrap(std::string_view code, std::string_view text) const {
    if (!on_) return std::string{text};
    return "\x1b[" + std::string{code} + "m" + std::string{text} + "\x1b[0m";
}

TerminalSize terminal_size() {
    winsize size{};
    for (const int fd : {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO}) {
        if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return {size.ws_col, size.ws_row};
    }
    return {};
}

RawTerminal::RawTerminal() {
    termios now{};
    if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
    before_ = now;
    ::cfmakeraw(&now);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

RawTerminal::~RawTerminal() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

}  // namespace oyat::cli
