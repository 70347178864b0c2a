#include "http/message_reader.hpp"

#include "base/error.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kMaxHeadBytes = 64 * 1024;
constexpr std::size_t kHeadRead = 16 * 1024;
constexpr int kMaxInterim = 8;  // honest servers send one or two; a flood would hold us for ever

Error not_http(std::string_view what) {
    return Error{Errc::unavailable, Fault::upstream,
                 "the server's answer is not HTTP/1.1: " + std::string{what}};
}

}  // namespace

Task<ParsedResponse> read_response_head(Stream& stream, ByteBuffer& input, std::string_view method) {
    std::size_t searched = 0;
    for (int interim = 0; interim <= kMaxInterim;) {
        const std::size_t end = find_head_end(input.view(), searched);
        if (end == std::string_view::npos) {
            if (input.size() >= kMaxHeadBytes) throw not_http("its head is too long");
            searched = input.size();
            const std::size_t got = co_await stream.read_some(input.room(kHeadRead));
            if (got == 0) {
                throw Error{Errc::unavailable, Fault::upstream,
                            "the server closed the connection without an answer"};
            }
            input.commit(got);
            continue;
        }
        Result<ParsedResponse> response = parse_response_head(input.view().substr(0, end), method);
        if (!response) throw not_http(response.error().message());
        input.consume(end);
        searched = 0;
        if (response->head.status == 101 || response->head.status >= 200) co_return *std::move(response);
        ++interim;
    }
    throw not_http("too many interim answers");
}

}  // namespace oyat::http
