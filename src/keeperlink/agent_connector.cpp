#include "keeperlink/agent_connector.hpp"

#include <utility>

#include "io/task_group.hpp"
#include "keeperlink/link.hpp"
#include "keeperlink/open_stream.hpp"
#include "keeperlink/remote_files.hpp"
#include "keeperlink/remote_process.hpp"

namespace oyat::keeperlink {
namespace {

constexpr std::size_t kScratch = 256 * 1024;
constexpr auto kHangUp = std::chrono::seconds{2};

// Opens the stream of a request that has one answer or none, and collects the events before its end.
Task<std::vector<Piece>> answers(OpenStream& stream) {
    std::vector<Piece> all;
    while (std::optional<Piece> piece = co_await stream.next()) {
        stream.credit(piece->bytes.size());
        all.push_back(*std::move(piece));
    }
    co_return all;
}

Task<> acknowledged(std::shared_ptr<Link> link, wire::Request request) {
    OpenStream stream{std::move(link), StreamKind::call, request};
    co_await answers(stream);
}

// The event of a request that has exactly one.
template <class T>
Task<T> answered(std::shared_ptr<Link> link, wire::Request request) {
    OpenStream stream{std::move(link), StreamKind::call, request};
    const std::vector<Piece> all = co_await answers(stream);
    if (all.size() != 1) throw Error{Errc::internal, Fault::agent, "the agent did not answer with one event"};
    co_return stream.read<T>(all.front());
}

Task<core::FileEntry> entry_answered(std::shared_ptr<Link> link, wire::Request request) {
    OpenStream stream{std::move(link), StreamKind::call, request};
    const std::vector<Piece> all = co_await answers(stream);
    if (all.size() != 1) throw Error{Errc::internal, Fault::agent, "the agent did not answer with one event"};
    co_return single_entry(stream, all.front());
}

class Channel final : public core::AgentChannel {
public:
    Channel(Executor executor, Fd socket, std::uint64_t generation, std::shared_ptr<std::string> scratch)
        : link_{std::make_shared<Link>(executor, std::move(socket), generation, std::move(scratch))},
          tasks_{executor} {
        tasks_.spawn(Link::keep_reading(link_));
        tasks_.spawn(Link::keep_writing(link_));
    }
    ~Channel() override { end(); }

    Task<> hello(std::chrono::milliseconds limit) override {
        co_await with_timeout(limit, "the sandbox's agent says hello", link_->greeted());
    }
    Task<> configure(core::AgentSetup setup) override {
        return acknowledged(link_, {.configure = to_wire(std::move(setup))});
    }

    Task<std::unique_ptr<core::AgentProcess>> spawn(core::SpawnOrder order) override {
        return RemoteProcess::open(link_, {.spawn = to_wire(std::move(order))});
    }
    Task<std::unique_ptr<core::AgentProcess>> attach(std::uint32_t pid) override {
        return RemoteProcess::open(link_, {.attach = wire::Attach{.pid = pid}});
    }
    Task<std::vector<core::AgentProcessInfo>> processes() override {
        OpenStream stream{link_, StreamKind::call, {.list_processes = wire::ListProcesses{}}};
        std::vector<core::AgentProcessInfo> all;
        for (const Piece& piece : co_await answers(stream)) {
            for (wire::ProcessInfo& each : stream.read<wire::ProcessList>(piece).processes) {
                all.push_back(to_core(std::move(each)));
            }
        }
        co_return all;
    }
    Task<> signal(std::uint32_t pid, int signal, bool tree) override {
        return acknowledged(
            link_,
            {.signal = wire::Signal{.pid = pid, .signal = static_cast<std::uint32_t>(signal), .tree = tree}});
    }
    Task<> release(std::uint32_t pid, bool refuse) override {
        return acknowledged(link_, {.release = wire::Release{.pid = pid, .refuse = refuse}});
    }
    Task<> resize(std::uint32_t pid, core::TermSize size) override {
        return acknowledged(
            link_, {.resize = wire::Resize{.pid = pid, .size = {.cols = size.cols, .rows = size.rows}}});
    }

    Task<core::FileEntry> stat(std::string path, std::string user) override {
        return entry_answered(link_, {.stat = wire::Stat{.path = std::move(path), .user = std::move(user)}});
    }
    Task<std::unique_ptr<core::DirListing>> list(std::string path, std::string user,
                                                 std::uint32_t depth) override {
        return open_listing(link_, {.path = std::move(path), .user = std::move(user), .depth = depth});
    }
    Task<core::FileEntry> make_dir(std::string path, std::string user, std::uint32_t mode) override {
        return entry_answered(link_, {.make_dir = wire::MakeDir{
                                          .path = std::move(path), .user = std::move(user), .mode = mode}});
    }
    Task<core::FileEntry> move(std::string source, std::string destination, std::string user) override {
        return entry_answered(link_, {.move = wire::Move{.source = std::move(source),
                                                         .destination = std::move(destination),
                                                         .user = std::move(user)}});
    }
    Task<> remove(std::string path, std::string user, bool must_exist) override {
        return acknowledged(
            link_, {.remove = wire::Remove{
                        .path = std::move(path), .user = std::move(user), .must_exist = must_exist}});
    }
    Task<core::FileEntry> compose(std::vector<std::string> sources, std::string destination,
                                  std::string user) override {
        return entry_answered(link_, {.compose = wire::Compose{.sources = std::move(sources),
                                                               .destination = std::move(destination),
                                                               .user = std::move(user)}});
    }
    Task<std::unique_ptr<core::FileSource>> read(std::string path, std::string user, std::uint64_t offset,
                                                 std::uint64_t length) override {
        return open_source(
            link_, {.path = std::move(path), .user = std::move(user), .offset = offset, .length = length});
    }
    Task<std::unique_ptr<core::FileSink>> write(std::string path, std::string user,
                                                std::map<std::string, std::string> metadata) override {
        return open_sink(link_,
                         {.path = std::move(path), .user = std::move(user), .metadata = std::move(metadata)});
    }
    Task<std::unique_ptr<core::FileWatch>> watch(std::string path, std::string user, bool recursive,
                                                 bool with_entry, bool allow_network_mounts) override {
        return open_watch(link_, {.path = std::move(path),
                                  .user = std::move(user),
                                  .recursive = recursive,
                                  .with_entry = with_entry,
                                  .allow_network_mounts = allow_network_mounts});
    }
    Task<core::UserFacts> resolve_user(std::string user) override {
        auto info =
            co_await answered<wire::UserInfo>(link_, {.resolve_user = wire::ResolveUser{std::move(user)}});
        co_return core::UserFacts{.name = std::move(info.name),
                                  .uid = info.uid,
                                  .gid = info.gid,
                                  .home = std::move(info.home),
                                  .shell = std::move(info.shell)};
    }
    Task<core::DiskUse> disk_use() override {
        const auto use = co_await answered<wire::DiskUse>(link_, {.disk_use = wire::GetDiskUse{}});
        co_return core::DiskUse{.total = use.total,
                                .used = use.used,
                                .inodes_total = use.inodes_total,
                                .inodes_used = use.inodes_used};
    }

    // The agent's hanging up is a part of the answer, and no loss.
    Task<> quiesce(core::QuiesceRules rules) override {
        link_->on_lost({});
        try {
            OpenStream stream{link_,
                              StreamKind::call,
                              {.quiesce = wire::Quiesce{.no_connections = rules.no_connections,
                                                        .no_deleted_files = rules.no_deleted_files}}};
            const std::vector<Piece> all = co_await answers(stream);
            const bool hangs_up = all.size() == 1 && stream.read<wire::Quiesced>(all.front()).hangs_up;
            if (hangs_up) co_await with_timeout(kHangUp, "the agent hangs up", link_->ended());
        } catch (const Error&) {
            link_->on_lost(on_lost_);
            throw;
        }
        co_await close();
    }
    Task<core::Renewed> renew(core::Renewal renewal) override {
        OpenStream stream{link_,
                          StreamKind::call,
                          {.renew = wire::Renew{.entropy = std::move(renewal.entropy),
                                                .wall_ns = renewal.wall_ns,
                                                .host_name = std::move(renewal.host_name),
                                                .machine_id = std::move(renewal.machine_id),
                                                .generation = renewal.generation}}};
        const std::vector<Piece> all = co_await answers(stream);
        const auto done = all.empty() ? wire::Renewed{} : stream.read<wire::Renewed>(all.front());
        co_return core::Renewed{
            .reseeded = done.reseeded, .clock_set = done.clock_set, .host_named = done.host_named};
    }

    void on_lost(std::function<void(std::string)> handler) override {
        on_lost_ = handler;
        link_->on_lost(std::move(handler));
    }
    [[nodiscard]] bool broke_protocol() const override { return link_->broke_protocol(); }
    void set_frozen(bool frozen) override { link_->set_frozen(frozen); }
    Task<> close() override {
        end();
        return tasks_.close();
    }

private:
    void end() {
        on_lost_ = {};
        link_->on_lost({});
        link_->close();
    }

    std::shared_ptr<Link> link_;  // shared with the tasks and with every open stream
    std::function<void(std::string)> on_lost_;
    TaskGroup tasks_;
};

class Connector final : public core::AgentConnector {
public:
    explicit Connector(Executor executor)
        : executor_{std::move(executor)}, scratch_{std::make_shared<std::string>(kScratch, '\0')} {}

    std::unique_ptr<core::AgentChannel> connect(Fd socket, std::uint64_t generation) override {
        return std::make_unique<Channel>(executor_, std::move(socket), generation, scratch_);
    }

private:
    Executor executor_;
    std::shared_ptr<std::string> scratch_;  // shared by all links of the loop, see Link
};

}  // namespace

std::unique_ptr<core::AgentConnector> make_agent_connector(Executor executor) {
    return std::make_unique<Connector>(std::move(executor));
}

}  // namespace oyat::keeperlink
