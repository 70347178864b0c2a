#include "cli/stdin_reader.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <semaphore>
#include <utility>

#include "base/throwing.hpp"
#include "io/post.hpp"

namespace oyat::cli {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

}  // namespace

struct StdinReader::Shared {
    Fd stop{sys(::eventfd(0, EFD_CLOEXEC), "make an eventfd")};
    std::counting_semaphore<> taken{1};  // one piece is under way at a time
    Channel<std::string> pieces{1};      // of the loop
};

StdinReader::StdinReader(Executor executor)
    : shared_{std::make_shared<Shared>()}, thread_{read_all, std::move(executor), shared_} {}

StdinReader::~StdinReader() {
    const std::uint64_t one = 1;
    (void)::write(shared_->stop.get(), &one, sizeof one);
    shared_->taken.release();
    thread_.join();
}

Task<std::string> StdinReader::next() {
    std::optional<std::string> piece = co_await shared_->pieces.pop();
    if (!piece) co_return std::string{};
    shared_->taken.release();
    co_return *std::move(piece);
}

void StdinReader::read_all(Executor executor, std::shared_ptr<Shared> shared) {
    for (;;) {
        shared->taken.acquire();
        std::array<pollfd, 2> wanted{{{STDIN_FILENO, POLLIN, 0}, {shared->stop.get(), POLLIN, 0}}};
        if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {
            shared->taken.release();
            continue;
        }
        if (wanted[1].revents != 0) return;
        std::string piece(kPiece, '\0');
        const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (n <= 0) break;
        piece.resize(static_cast<std::size_t>(n));
        post(executor, [shared, piece = std::move(piece)]() mutable {
            (void)shared->pieces.try_push(std::move(piece));
        });
    }
    post(executor, [shared] { shared->pieces.close(); });
}

}  // namespace oyat::cli
