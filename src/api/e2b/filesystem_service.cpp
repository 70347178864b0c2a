#include "api/e2b/entry_json.hpp"
#include "api/e2b/rpc_method.hpp"
#include "rpc/code.hpp"

namespace oyat::e2b {
namespace {

// A reply is one message: what a sandbox can put into one directory tree must not become our memory.
constexpr std::size_t kMaxListing = 64 * 1024 * 1024;

// A path of a request. The rules for "", "~" and relative ones are the agent's; only what no path can hold
// ends here.
std::string path_of(const rpc::Message& message, std::string_view name = "path") {
    std::string path = message.string(name);
    if (path.find('\0') != std::string::npos) throw Error{Errc::invalid_argument, "a path holds a NUL"};
    return path;
}

std::string entry_reply(const core::FileEntry& entry) {
    std::string json = R"({"entry":)";
    append_entry(json, entry);
    json += '}';
    return json;
}

Task<std::string> stat(RpcCall& rpc, const rpc::Message& message) {
    co_return entry_reply(co_await rpc.files().stat(path_of(message), rpc.call.user, rpc.call.who));
}

Task<std::string> list_dir(RpcCall& rpc, const rpc::Message& message) {
    const std::uint32_t depth = std::max<std::uint32_t>(1, message.uint32("depth"));
    const std::unique_ptr<core::DirListing> listing =
        co_await rpc.files().list(path_of(message), rpc.call.user, depth, rpc.call.who);
    std::string json = R"({"entries":[)";
    while (true) {
        const std::vector<core::FileEntry> entries = co_await listing->next();
        if (entries.empty()) break;
        for (const core::FileEntry& entry : entries) {
            if (json.back() != '[') json += ',';
            append_entry(json, entry);
        }
        if (json.size() > kMaxListing) {
            throw Error{Errc::exhausted,
                        "the listing is longer than 64 MiB: list a smaller part, or less deep"};
        }
    }
    json += "]}";
    co_return json;
}

Task<std::string> make_dir(RpcCall& rpc, const rpc::Message& message) {
    co_return entry_reply(co_await rpc.files().make_dir(path_of(message), rpc.call.user, rpc.call.who));
}

Task<std::string> move(RpcCall& rpc, const rpc::Message& message) {
    co_return entry_reply(co_await rpc.files().move(
        path_of(message, "source"), path_of(message, "destination"), rpc.call.user, rpc.call.who));
}

Task<std::string> remove(RpcCall& rpc, const rpc::Message& message) {
    co_await rpc.files().remove(path_of(message), rpc.call.user, rpc.call.who);
    co_return "{}";
}

Task<std::unique_ptr<core::FileWatch>> open_watch(RpcCall& rpc, const rpc::Message& message) {
    return rpc.files().watch(path_of(message), rpc.call.user, message.boolean("recursive"),
                             message.boolean("includeEntry"), message.boolean("allowNetworkMounts"),
                             rpc.call.who);
}

Task<> watch_dir(RpcCall& rpc, const rpc::Message& message, const rpc::CallOptions&, rpc::ServerStream& out) {
    const std::unique_ptr<core::FileWatch> watch = co_await open_watch(rpc, message);
    out.add([](std::string& json) { json += R"({"start":{}})"; });
    while (true) {
        co_await out.flush();
        for (const core::FileChange& change : co_await watch->next()) {
            if (change.kind == core::ChangeKind::overflow) {
                throw rpc::CodedError{rpc::Code::data_loss,
                                      {Errc::exhausted, "too many changes at once: some were not seen"}};
            }
            out.add([&](std::string& json) {
                json += R"({"filesystem":)";
                append_change(json, change);
                json += '}';
            });
        }
    }
}

Task<std::string> create_watcher(RpcCall& rpc, const rpc::Message& message) {
    std::unique_ptr<core::FileWatch> watch = co_await open_watch(rpc, message);
    const std::string id = rpc.watchers.add(rpc.call.exchange.executor(), rpc.call.sandbox, std::move(watch));
    co_return R"({"watcherId":")" + id + R"("})";
}

Task<std::string> get_watcher_events(RpcCall& rpc, const rpc::Message& message) {
    const std::vector<core::FileChange> changes =
        rpc.watchers.take(rpc.call.sandbox->record().id, message.string("watcherId"));
    std::string json = R"({"events":[)";
    for (const core::FileChange& change : changes) {
        if (json.back() != '[') json += ',';
        append_change(json, change);
    }
    json += "]}";
    co_return json;
}

Task<std::string> remove_watcher(RpcCall& rpc, const rpc::Message& message) {
    rpc.watchers.remove(rpc.call.sandbox->record().id, message.string("watcherId"));
    co_return "{}";
}

constexpr RpcMethod kMethods[] = {
    {"/filesystem.Filesystem/Stat", stat},
    {"/filesystem.Filesystem/ListDir", list_dir},
    {"/filesystem.Filesystem/MakeDir", make_dir},
    {"/filesystem.Filesystem/Move", move},
    {"/filesystem.Filesystem/Remove", remove},
    {"/filesystem.Filesystem/WatchDir", watch_dir, R"({"keepalive":{}})"},
    {"/filesystem.Filesystem/CreateWatcher", create_watcher},
    {"/filesystem.Filesystem/GetWatcherEvents", get_watcher_events},
    {"/filesystem.Filesystem/RemoveWatcher", remove_watcher},
};

}  // namespace

std::span<const RpcMethod> filesystem_methods() {
    return kMethods;
}

}  // namespace oyat::e2b
