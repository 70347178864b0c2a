#pragma once

#include <termios.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oyat::cli {

// Writes to standard output. When nobody reads it any more the program ends quietly, as a pipe's writer
// should.
void print(std::string_view text);
void print_to(int fd, std::string_view text);
// For who has something to end first: false when nobody reads it any more.
[[nodiscard]] bool try_print_to(int fd, std::string_view text);

// Text from a server or a sandbox, safe to show: control characters (and with them escape sequences) become
// '?'.
[[nodiscard]] std::string printable(std::string_view text);

// Colours, only where a person looks at them and NO_COLOR is not set.
class Paint {
public:
    explicit Paint(int fd);

    [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
    [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }
    [[nodiscard]] std::string red(std::string_view text) const { return wrap("31", text); }
    [[nodiscard]] std::string green(std::string_view text) const { return wrap("32", text); }
    [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("33", text); }

private:
    [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;

    bool on_;
};

struct TerminalSize {
    std::uint32_t cols = 80;
    std::uint32_t rows = 24;
};
[[nodiscard]] TerminalSize terminal_size();

// Every key goes to the program inside, Ctrl-C too. Puts the terminal back when it ends.
class RawTerminal {
public:
    RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;
    ~RawTerminal();

private:
    std::optional<termios> before_;
};

}  // namespace oyat::cli
