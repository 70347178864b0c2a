#include "http/splice.hpp"

#include <span>

#include "base/error.hpp"
#include "http/pump_buffer.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

constexpr std::chrono::seconds kAfterlife{10};

// A side that broke has ended, too.
Task<> pump(Stream& from, Stream& to, bool& ended) {
    try {
        PumpBuffer buffer;
        for (;;) {
            const std::span<char> space = buffer.space();
            const std::size_t got = co_await from.read_some(space);
            if (got == 0) break;
            buffer.filled(got);
            co_await to.write_all({space.data(), got});
        }
        to.shutdown_write();
    } catch (const Error& e) {
        if (e.code() != Errc::unavailable) throw;
        to.close();
    }
    ended = true;
}

// Until the other direction has ended too, or its time is over.
Task<> pump_then_wait(Stream& from, Stream& to, bool& ended, const bool& other_ended) {
    co_await pump(from, to, ended);
    if (!other_ended) co_await sleep_for(kAfterlife);
}

}  // namespace

Task<> splice(Stream& a, Stream& b) {
    bool a_ended = false;
    bool b_ended = false;
    co_await race(pump_then_wait(a, b, a_ended, b_ended), pump_then_wait(b, a, b_ended, a_ended));
}

}  // namespace oyat::http
