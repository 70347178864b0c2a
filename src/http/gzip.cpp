#include "http/gzip.hpp"

#include <zlib.h>

#include "base/assert.hpp"

namespace oyat::http {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to say: gzip header and trailer, largest window
constexpr int kMemoryLevel = 8;

// zlib wants mutable input, which it does not change.
Bytef* bytes_of(std::string_view piece) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
}

}  // namespace

struct Gzip::State {
    z_stream stream{};
};

Gzip::Gzip() : state_{std::make_unique<State>()} {
    // Only lack of memory makes this fail.
    OYAT_ASSERT(deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                             Z_DEFAULT_STRATEGY) == Z_OK);
}

Gzip::~Gzip() {
    deflateEnd(&state_->stream);
}

namespace {

std::string run_deflate(z_stream& stream, std::string_view piece, int flush) {
    std::string out;
    stream.next_in = bytes_of(piece);
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
        const std::size_t had = out.size();
        out.resize(had + 64 * 1024);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
        stream.avail_out = 64 * 1024;
        deflate(&stream, flush);
        out.resize(out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    return out;
}

}  // namespace

std::string Gzip::put(std::string_view piece) {
    return run_deflate(state_->stream, piece, Z_NO_FLUSH);
}
std::string Gzip::end() {
    return run_deflate(state_->stream, {}, Z_FINISH);
}

struct Gunzip::State {
    z_stream stream{};
    bool inside_member = true;  // also before the first: an empty upload is no gzip
    bool output_was_full = false;
};

Gunzip::Gunzip() : state_{std::make_unique<State>()} {
    OYAT_ASSERT(inflateInit2(&state_->stream, kGzipWindow) == Z_OK);
}

Gunzip::~Gunzip() {
    inflateEnd(&state_->stream);
}

void Gunzip::put(std::string_view piece) {
    state_->stream.next_in = bytes_of(piece);
    state_->stream.avail_in = static_cast<uInt>(piece.size());
}

Result<std::string> Gunzip::take() {
    z_stream& stream = state_->stream;
    std::string out;
    while (out.empty() && (stream.avail_in > 0 || state_->output_was_full)) {
        if (!state_->inside_member) {  // another member follows
            inflateReset(&stream);
            state_->inside_member = true;
        }
        out.resize(kMostAtOnce);
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = kMostAtOnce;
        const int result = inflate(&stream, Z_NO_FLUSH);
        out.resize(kMostAtOnce - stream.avail_out);
        state_->output_was_full = stream.avail_out == 0 && result != Z_STREAM_END;
        if (result == Z_STREAM_END) {
            state_->inside_member = false;
        } else if (result == Z_BUF_ERROR) {
            state_->output_was_full = false;  // nothing was left to give out
        } else if (result != Z_OK) {
            return refuse(Errc::invalid_argument, "the body is not valid gzip");
        }
    }
    return out;
}

bool Gunzip::at_end() const noexcept {
    return !state_->inside_member;
}

}  // namespace oyat::http
