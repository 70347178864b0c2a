#include "agent/pty.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace oyat::agent {

Answer<Pty> open_pty(wire::TermSize size, std::uint32_t uid) {
    Pty pty;
    pty.master = Fd{::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    if (!pty.master) {
        if (errno == ENOSPC) return refused(Errc::exhausted, "terminal limit reached", ENOSPC);
        return refused_errno(errno, "open a terminal");
    }
    const int unlock = 0;
    if (::ioctl(pty.master.get(), TIOCSPTLCK, &unlock) != 0) return refused_errno(errno, "unlock a terminal");
    // Linux >= 4.13: the other end without its path, which root inside could have replaced.
    pty.slave = Fd{::ioctl(pty.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
    if (!pty.slave) return refused_errno(errno, "open a terminal");
    if (uid != ::geteuid()) static_cast<void>(::fchown(pty.slave.get(), uid, static_cast<gid_t>(-1)));
    if (Status status = resize_pty(pty.master.get(), size); status.code != 0) return std::unexpected{status};
    return pty;
}

Status resize_pty(int master, wire::TermSize size) {
    const auto clamped = [](std::uint32_t value, std::uint32_t otherwise) {
        return static_cast<unsigned short>(std::min<std::uint32_t>(value == 0 ? otherwise : value, 0xFFFF));
    };
    const winsize window{.ws_row = clamped(size.rows, 24), .ws_col = clamped(size.cols, 80)};
    if (::ioctl(master, TIOCSWINSZ, &window) != 0) return errno_refusal(errno, "resize the terminal");
    return {};
}

char end_of_file_key(int master) {
    termios settings{};
    if (::tcgetattr(master, &settings) != 0) return '\x04';
    return static_cast<char>(settings.c_cc[VEOF]);
}

}  // namespace oyat::agent
