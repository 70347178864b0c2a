#include "api/native/tunnel.hpp"

#include <vector>

#include "io/gate.hpp"
#include "io/race.hpp"

namespace oyat::native {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

struct Ends {
    int count = 0;
    Gate both;
};

// The end of one direction is passed on alone; the task itself waits for the other.
Task<> carry(Stream& from, Stream& to, Ends& ends) {
    std::vector<char> piece(kPiece);
    while (const std::size_t n = co_await from.read_some(piece)) co_await to.write_all({piece.data(), n});
    to.shutdown_write();
    if (++ends.count == 2) ends.both.open();
    co_await ends.both.pass();
}

}  // namespace

Task<> tunnel(Stream& client, Stream& inside, core::Sandbox& sandbox) {
    Ends ends;
    try {
        co_await race(carry(client, inside, ends), carry(inside, client, ends), sandbox.until_not_running());
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        // One side broke: both are closed, which is all that can be said on a raw stream.
    }
    client.close();
    inside.close();
}

}  // namespace oyat::native
