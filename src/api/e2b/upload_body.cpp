#include "api/e2b/upload_body.hpp"

#include "base/throwing.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

}  // namespace

UploadBody::UploadBody(http::Exchange& exchange) : exchange_{exchange}, piece_(kPiece) {
    const std::string_view encoding = exchange.request().fields.get("Content-Encoding");
    if (encoding.empty() || http::equal_ignoring_case(encoding, "identity")) return;
    if (!http::equal_ignoring_case(encoding, "gzip")) {
        throw Error{Errc::invalid_argument, "Content-Encoding is neither gzip nor identity"};
    }
    gunzip_.emplace();
}

Task<std::string_view> UploadBody::next_raw() {
    const std::size_t size = co_await exchange_.read_body(piece_);
    co_return std::string_view{piece_.data(), size};
}

Task<std::string_view> UploadBody::next() {
    if (!gunzip_) co_return co_await next_raw();
    while (true) {
        unpacked_ = or_throw(gunzip_->take());
        if (!unpacked_.empty()) co_return unpacked_;
        const std::string_view piece = co_await next_raw();
        if (piece.empty()) {
            if (!gunzip_->at_end()) throw Error{Errc::invalid_argument, "the gzip body is cut off"};
            co_return std::string_view{};
        }
        gunzip_->put(piece);
    }
}

}  // namespace oyat::e2b
