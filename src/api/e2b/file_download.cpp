#include "api/e2b/accepted_encoding.hpp"
#include "api/e2b/byte_range.hpp"
#include "api/e2b/error_answer.hpp"
#include "api/e2b/file_transfer.hpp"
#include "api/e2b/http_date.hpp"
#include "api/e2b/transfer_target.hpp"
#include "base/throwing.hpp"
#include "http/gzip.hpp"
#include "http/url.hpp"

namespace oyat::e2b {
namespace {

using Source = std::unique_ptr<core::FileSource>;

std::int64_t modified_seconds(const core::FileEntry& entry) {
    return entry.mtime_ns / 1'000'000'000;
}

bool is_plain_ascii(std::string_view text) {
    for (const char c : text) {
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\') return false;
    }
    return true;
}

std::string disposition(std::string_view name) {
    if (is_plain_ascii(name)) return "inline; filename=\"" + std::string{name} + "\"";
    return "inline; filename*=UTF-8''" + http::percent_encode(name);
}

http::Fields fields_of(const core::FileEntry& entry) {
    return {{"Content-Type", "application/octet-stream"},
            {"X-Content-Type-Options", "nosniff"},
            {"Content-Disposition", disposition(entry.name())},
            {"Last-Modified", http_date(modified_seconds(entry))},
            {"Vary", "Accept-Encoding"}};
}

// Sends what the source has, the first piece given. Never more than `most`: a file may grow while it is read.
Task<> pour(http::Exchange& exchange, core::FileSource& source, std::string piece, std::uint64_t most) {
    while (!piece.empty() && most > 0) {
        if (piece.size() > most) piece.resize(most);
        co_await exchange.write(piece);
        most -= piece.size();
        piece =
            co_await source.next();  // also behind the last byte: a source that was read to its end is done
    }
    if (most > 0) {
        throw Error{Errc::unavailable, Fault::command, "the file became shorter while it was read"};
    }
}

Task<> send_gzip(http::Exchange& exchange, core::FileSource& source, std::string piece) {
    http::Fields fields = fields_of(source.entry());
    fields.add("Content-Encoding", "gzip");
    co_await exchange.start(200, std::move(fields), std::nullopt);
    http::Gzip gzip;
    for (; !piece.empty(); piece = co_await source.next()) {
        const std::string packed = gzip.put(piece);
        if (!packed.empty()) co_await exchange.write(packed);
    }
    co_await exchange.write(gzip.end());
    co_await exchange.finish();
}

// Files of /proc say that they are empty and are not: their length is known at their end only.
Task<> send_unknown_length(http::Exchange& exchange, core::FileSource& source, std::string piece) {
    co_await exchange.start(200, fields_of(source.entry()), std::nullopt);
    for (; !piece.empty(); piece = co_await source.next()) co_await exchange.write(piece);
    co_await exchange.finish();
}

Task<> send_whole(http::Exchange& exchange, core::FileSource& source, std::string piece) {
    const std::uint64_t size = source.entry().size;
    http::Fields fields = fields_of(source.entry());
    fields.add("Accept-Ranges", "bytes");
    co_await exchange.start(200, std::move(fields), size);
    co_await pour(exchange, source, std::move(piece), size);
    co_await exchange.finish();
}

Task<> send_part(AgentCall& call, const std::string& path, core::FileEntry entry, ByteRange range) {
    const Source source =
        co_await call.sandbox->files().read(path, call.user, range.first, range.length, call.who);
    http::Fields fields = fields_of(entry);
    fields.add("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                    std::to_string(range.first + range.length - 1) + "/" +
                                    std::to_string(entry.size));
    co_await call.exchange.start(206, std::move(fields), range.length);
    co_await pour(call.exchange, *source, co_await source->next(), range.length);
    co_await call.exchange.finish();
}

RangeAnswer wanted_range(const http::Fields& request, const core::FileEntry& entry) {
    const std::string_view condition = request.get("If-Range");
    if (!condition.empty() && condition != http_date(modified_seconds(entry))) return {};
    return range_for(request.get("Range"), entry.size);
}

Task<> send_identity(AgentCall& call, const std::string& path, Source source, std::string piece) {
    const core::FileEntry& entry = source->entry();
    const bool size_is_known = entry.type == core::FileType::file && (entry.size > 0 || piece.empty());
    if (!size_is_known) {
        co_await send_unknown_length(call.exchange, *source, std::move(piece));
        co_return;
    }
    const RangeAnswer range = wanted_range(call.exchange.request().fields, entry);
    switch (range.kind) {
        case RangeKind::whole: co_await send_whole(call.exchange, *source, std::move(piece)); break;
        case RangeKind::part: {
            const core::FileEntry facts = entry;
            source.reset();
            co_await send_part(call, path, facts, range.range);
            break;
        }
        case RangeKind::unsatisfiable:
            co_await call.exchange.respond(
                416,
                {{"Content-Type", "application/json"},
                 {"Content-Range", "bytes */" + std::to_string(entry.size)}},
                agent_error_body(416, "the range lies behind the end of the file"));
            break;
    }
}

}  // namespace

Task<> send_file(AgentCall& call) {
    const TransferTarget target = or_throw(TransferTarget::of(call.query));
    call.user = target.user;
    const http::Fields& request = call.exchange.request().fields;
    const ContentCoding coding = coding_for(request.get("Accept-Encoding"));
    if (coding == ContentCoding::none_acceptable) {
        co_await answer_agent_error(call.exchange, 406,
                                    "no acceptable encoding found, supported: [identity, gzip]");
        co_return;
    }
    Source source = co_await call.sandbox->files().read(target.path, call.user, 0, 0, call.who);
    if (request.get("If-Modified-Since") == http_date(modified_seconds(source->entry()))) {
        co_await call.exchange.respond(304, {{"Vary", "Accept-Encoding"}}, "");
        co_return;
    }
    std::string piece = co_await source->next();
    if (coding == ContentCoding::gzip && !piece.empty()) {
        co_await send_gzip(call.exchange, *source, std::move(piece));
    } else {
        co_await send_identity(call, target.path, std::move(source), std::move(piece));
    }
}

}  // namespace oyat::e2b
