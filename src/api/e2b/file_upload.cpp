#include <array>
#include <set>

#include "api/e2b/entry_json.hpp"
#include "api/e2b/file_metadata.hpp"
#include "api/e2b/file_transfer.hpp"
#include "api/e2b/multipart.hpp"
#include "api/e2b/transfer_target.hpp"
#include "api/e2b/upload_body.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kMaxComposeBody = 1024 * 1024;
constexpr std::size_t kMostFiles = 10'000;

using Sink = std::unique_ptr<core::FileSink>;
using Metadata = std::map<std::string, std::string>;

std::string written_list(const std::vector<core::FileEntry>& entries) {
    std::string json = "[";
    for (const core::FileEntry& entry : entries) {
        if (json.back() != '[') json += ',';
        append_written(json, entry);
    }
    json += ']';
    return json;
}

Task<core::FileEntry> receive_raw(AgentCall& call, UploadBody& body, const std::string& path,
                                  const Metadata& metadata) {
    if (path.empty()) throw Error{Errc::invalid_argument, "'path' is missing"};
    const Sink sink = co_await call.sandbox->files().write(path, call.user, metadata, call.who);
    while (true) {
        const std::string_view piece = co_await body.next();
        if (piece.empty()) break;
        co_await sink->write(piece);
    }
    co_return co_await sink->finish();
}

// The files of one multipart body, each written as it comes.
class MultipartUpload {
public:
    MultipartUpload(AgentCall& call, std::string query_path, Metadata metadata, std::string_view boundary)
        : call_{call},
          query_path_{std::move(query_path)},
          metadata_{std::move(metadata)},
          reader_{boundary} {}

    Task<std::vector<core::FileEntry>> receive(UploadBody& body) {
        while (true) {
            MultipartReader::Event event = or_throw(reader_.next());
            if (std::holds_alternative<MultipartReader::Finished>(event)) break;
            if (std::holds_alternative<MultipartReader::NeedsMore>(event)) {
                const std::string_view piece = co_await body.next();
                if (piece.empty()) throw Error{Errc::invalid_argument, "the body ends inside a part"};
                reader_.feed(piece);
            } else if (const auto* begin = std::get_if<MultipartReader::PartBegin>(&event)) {
                co_await open(begin->head);
            } else if (const auto* data = std::get_if<MultipartReader::PartData>(&event)) {
                if (sink_ != nullptr) co_await sink_->write(data->bytes);
            } else if (sink_ != nullptr) {
                entries_.push_back(co_await sink_->finish());
                sink_.reset();
            }
        }
        co_return std::move(entries_);
    }

private:
    // Parts of other names are passed over, as forms may have some.
    Task<> open(const PartHead& head) {
        if (head.name != "file") co_return;
        std::string path = query_path_.empty() ? head.filename.value_or("") : query_path_;
        if (path.empty())
            throw Error{Errc::invalid_argument, "a part has no file name, and the query no 'path'"};
        if (path.find('\0') != std::string::npos)
            throw Error{Errc::invalid_argument, "a file name holds a NUL"};
        if (paths_.size() >= kMostFiles)
            throw Error{Errc::invalid_argument, "more than 10,000 files at once"};
        if (!paths_.insert(path).second) {
            throw Error{Errc::invalid_argument, "several files of one upload have the same path"};
        }
        sink_ = co_await call_.sandbox->files().write(std::move(path), call_.user, metadata_, call_.who);
    }

    AgentCall& call_;
    std::string query_path_;
    Metadata metadata_;
    MultipartReader reader_;
    std::set<std::string> paths_;
    Sink sink_;
    std::vector<core::FileEntry> entries_;
};

}  // namespace

Task<> receive_files(AgentCall& call) {
    const TransferTarget target = or_throw(TransferTarget::of(call.query));
    call.user = target.user;
    const http::Fields& request = call.exchange.request().fields;
    const Metadata metadata = or_throw(file_metadata(request));
    UploadBody body{call.exchange};
    std::vector<core::FileEntry> entries;
    if (const std::optional<std::string> boundary = multipart_boundary(request.get("Content-Type"))) {
        MultipartUpload upload{call, target.path, metadata, *boundary};
        entries = co_await upload.receive(body);
    } else {
        const std::string_view type = request.get("Content-Type");
        if (!http::equal_ignoring_case(type.substr(0, type.find(';')), "application/octet-stream")) {
            throw Error{Errc::invalid_argument,
                        "Content-Type is neither multipart/form-data nor application/octet-stream"};
        }
        entries.push_back(co_await receive_raw(call, body, target.path, metadata));
    }
    co_await call.exchange.respond(200, {{"Content-Type", "application/json"}}, written_list(entries));
}

Task<> compose_file(AgentCall& call) {
    const std::string text = co_await call.exchange.read_whole_body(kMaxComposeBody);
    const boost::json::object object = or_throw(rpc::parse_object(text));
    const rpc::Message message{object};
    call.user = message.string("username");
    std::vector<std::string> sources = message.strings("sourcePaths");
    std::string destination = message.string("destination");
    if (sources.empty() || destination.empty()) {
        throw Error{Errc::invalid_argument, "'source_paths' and 'destination' are needed"};
    }
    for (const std::string& path : sources) {
        if (path.find('\0') != std::string::npos) throw Error{Errc::invalid_argument, "a path holds a NUL"};
    }
    if (destination.find('\0') != std::string::npos)
        throw Error{Errc::invalid_argument, "a path holds a NUL"};
    const core::FileEntry entry = co_await call.sandbox->files().compose(
        std::move(sources), std::move(destination), call.user, call.who);
    std::string json;
    append_written(json, entry);
    co_await call.exchange.respond(200, {{"Content-Type", "application/json"}}, std::move(json));
}

}  // namespace oyat::e2b
