#include "agent/agent.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "agent/file_calls.hpp"
#include "agent/file_entry.hpp"
#include "agent/launch.hpp"
#include "agent/obstacles.hpp"
#include "agent/process_listing.hpp"
#include "agent/process_stream.hpp"
#include "agent/renewal.hpp"

namespace oyat::agent {
namespace {

Status no_such_process(std::uint32_t pid) {
    return refusal(Errc::not_found, "process with pid " + std::to_string(pid) + " not found", ESRCH);
}

}  // namespace

Agent::Agent(WayIn way, Fd cgroup, std::uint64_t generation)
    : processes_{loop_, std::move(cgroup)},
      stand_still_{processes_.groups().parent()},
      host_{loop_, *this, generation} {
    if (way.listener) {
        host_.open(listen_for_host(loop_, std::move(way.listener), host_));
    } else if (way.port) {
        host_.open(wait_at_port(loop_, std::move(way.port), host_));
    } else {
        host_.open(connect_to_host(loop_, std::move(way.connect), host_));
    }
}

std::unique_ptr<Stream> Agent::open(Connection& connection, std::uint32_t id, wire::Request request) {
    if (request.spawn) return open_process(connection, id, *request.spawn);
    if (request.attach) return open_attach(connection, id, request.attach->pid);
    if (request.list_processes) return std::make_unique<ProcessListing>(connection, id, processes_);
    if (auto stream = open_file(connection, id, request)) {
        if (*stream) return **std::move(stream);
        connection.send_end(id, stream->error());
        return nullptr;
    }
    if (request.configure) {
        connection.send_end(id, configure(*request.configure));
        return nullptr;
    }
    if (request.quiesce) {
        quiesce(connection, id, *request.quiesce);
        return nullptr;
    }
    Answer<std::string> event = call(request);
    if (!event || event->empty()) {
        connection.send_end(id, event ? Status{} : event.error());
        return nullptr;
    }
    return std::make_unique<Reply>(connection, id, *std::move(event));
}

std::unique_ptr<Stream> Agent::open_process(Connection& connection, std::uint32_t id, wire::Spawn& spawn) {
    const auto start = [&]() -> Answer<Process*> {
        // Its group may be frozen, and the agent waits until a program has started.
        if (stand_still_.active()) return refused(Errc::failed_precondition, "the sandbox stands still");
        if (processes_.full()) return refused(Errc::exhausted, "more than 1024 commands are running");
        Answer<User> user = users_.find(settings_.user_or_default(spawn.user));
        if (!user) return std::unexpected{std::move(user).error()};
        Answer<Launched> launched = launch(spawn, settings_, *user, processes_.groups());
        if (!launched) return std::unexpected{std::move(launched).error()};
        return &processes_.add(*std::move(launched), std::move(spawn), user->account.name);
    };
    const Answer<Process*> process = start();
    if (!process) {
        connection.send_end(id, process.error());
        return nullptr;
    }
    auto stream = std::make_unique<ProcessStream>(connection, id, **process);
    (*process)->attach(*stream);
    return stream;
}

std::unique_ptr<Stream> Agent::open_attach(Connection& connection, std::uint32_t id, std::uint32_t pid) {
    Process* process = processes_.find(static_cast<pid_t>(pid));
    const Status status = process == nullptr ? no_such_process(pid) : process->may_attach();
    if (status.code != 0) {
        connection.send_end(id, status);
        return nullptr;
    }
    auto stream = std::make_unique<ProcessStream>(connection, id, *process);
    process->attach(*stream);
    return stream;
}

std::optional<Answer<std::unique_ptr<Stream>>> Agent::open_file(Connection& connection, std::uint32_t id,
                                                                const wire::Request& request) {
    const auto as = [&](const std::string& user, auto&& open) -> Answer<std::unique_ptr<Stream>> {
        Answer<Actor> actor = make_actor(users_, settings_, user);
        if (!actor) return std::unexpected{std::move(actor).error()};
        return open(FileJob{loop_, users_, connection, id, *std::move(actor)});
    };
    const auto open_as = [&](auto& open, const auto& request) {
        return as(request.user, [&](FileJob job) { return open(std::move(job), request); });
    };
    if (request.read_file) return open_as(read_file, *request.read_file);
    if (request.write_file) return open_as(write_file, *request.write_file);
    if (request.list_dir) return open_as(list_directory, *request.list_dir);
    if (request.remove) return open_as(remove_path, *request.remove);
    if (request.move) return open_as(move_path, *request.move);
    if (request.compose) return open_as(compose_file, *request.compose);
    if (request.watch) {
        return as(request.watch->user,
                  [&](FileJob job) { return watch_directory(std::move(job), *request.watch, watches_); });
    }
    return std::nullopt;
}

Answer<std::string> Agent::call(const wire::Request& request) {
    const auto entry_as = [&](auto& call, const auto& request) -> Answer<std::string> {
        const Answer<Actor> actor = make_actor(users_, settings_, request.user);
        if (!actor) return std::unexpected{actor.error()};
        Answer<wire::FileEntry> entry = call(*actor, users_, request);
        if (!entry) return std::unexpected{std::move(entry).error()};
        return entry_event(*std::move(entry));
    };
    const auto done = [](Status status) -> Answer<std::string> {
        if (status.code != 0) return std::unexpected{std::move(status)};
        return std::string{};
    };
    if (request.signal) return done(signal(*request.signal));
    if (request.release) return done(release(*request.release));
    if (request.resize) return done(resize(*request.resize));
    if (request.stat) return entry_as(stat_path, *request.stat);
    if (request.make_dir) return entry_as(make_directory, *request.make_dir);
    if (request.chmod) return entry_as(change_mode, *request.chmod);
    if (request.renew) return renew(*request.renew);
    if (request.resolve_user) {
        const Answer<User> user = users_.find(request.resolve_user->user);
        if (!user) return refused(Errc::not_found, user.error().message);
        const Account& account = user->account;
        return wire::encode(wire::UserInfo{.name = account.name,
                                           .uid = account.uid,
                                           .gid = account.gid,
                                           .home = account.home,
                                           .shell = account.shell});
    }
    if (request.disk_use) {
        const Answer<wire::DiskUse> use = disk_use();
        if (!use) return std::unexpected{use.error()};
        return wire::encode(*use);
    }
    return refused(Errc::unimplemented, "this agent does not know the request");
}

Status Agent::configure(wire::Configure& configure) {
    settings_.configured = std::move(configure);
    set_metadata_space(settings_.configured.metadata_space);
    host_.set_configured();
    return {};
}

Status Agent::stand_still(const wire::Quiesce& request) {
    Status status = stand_still_.begin();
    if (status.code == 0 && request.no_connections) status = no_outside_connections();
    if (status.code == 0 && request.no_deleted_files) status = no_deleted_files();
    if (status.code == 0) {
        const Fd root{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!root || ::syncfs(root.get()) != 0) status = errno_refusal(errno, "sync the file system");
    }
    if (status.code != 0) stand_still_.end();
    return status;
}

void Agent::quiesce(Connection& connection, std::uint32_t id, const wire::Quiesce& request) {
    const Status status = stand_still(request);
    if (status.code == 0 && host_.door().hangs_up()) {
        connection.send(wire::FrameKind::event, id, wire::ChannelId::none,
                        wire::encode(wire::Quiesced{.hangs_up = true}));
    }
    connection.send_end(id, status);
    if (status.code != 0) return;
    host_.set_stands_still(true);
    connection.finish();
}

Answer<std::string> Agent::renew(const wire::Renew& request) {
    Answer<wire::Renewed> done = renew_machine(request);
    if (!done) return std::unexpected{std::move(done).error()};
    if (request.generation != 0) host_.set_generation(request.generation);
    done->generation = host_.generation();
    host_.set_stands_still(false);
    // Last: no program runs before its machine is another one.
    stand_still_.end();
    return wire::encode(*done);
}

Status Agent::signal(const wire::Signal& request) {
    Process* process = processes_.find(static_cast<pid_t>(request.pid));
    return process == nullptr ? no_such_process(request.pid) : process->signal(request.signal, request.tree);
}

Status Agent::release(const wire::Release& request) {
    Process* process = processes_.find(static_cast<pid_t>(request.pid));
    if (process == nullptr) return no_such_process(request.pid);
    return request.refuse ? process->refuse_to_run(refusal(Errc::canceled, "not run: refused"))
                          : process->release();
}

Status Agent::resize(const wire::Resize& request) {
    Process* process = processes_.find(static_cast<pid_t>(request.pid));
    return process == nullptr ? no_such_process(request.pid) : process->resize(request.size);
}

}  // namespace oyat::agent
