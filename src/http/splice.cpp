#include "http/splice.hpp"

#include <memory>
#include <span>

#include "base/error.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;
constexpr std::chrono::seconds kAfterlife{10};

// A side that broke has ended, too.
Task<> pump(Stream& from, Stream& to, bool& ended) {
    try {
        const auto buffer = std::make_unique_for_overwrite<char[]>(kBuffer);
        while (const std::size_t got = co_await from.read_some({buffer.get(), kBuffer})) {
            co_await to.write_all({buffer.get(), got});
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
