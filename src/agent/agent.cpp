#include "agent/agent.hpp"

#include "agent/launch.hpp"
#include "agent/process_stream.hpp"

namespace oyat::agent {
namespace {

// Listings go out in events of about this size.
constexpr std::size_t kListEvent = 64 * 1024;

Status no_such_process(std::uint32_t pid) {
    return refusal(Errc::not_found, "process with pid " + std::to_string(pid) + " not found", ESRCH);
}

}  // namespace

Agent::Agent(Fd listener, Fd cgroup, std::uint64_t generation)
    : processes_{loop_, std::move(cgroup)}, host_{loop_, std::move(listener), *this, generation} {}

std::unique_ptr<Stream> Agent::open(Connection& connection, std::uint32_t id, wire::Request request) {
    if (request.spawn) return open_process(connection, id, *request.spawn);
    if (request.attach) return open_attach(connection, id, request.attach->pid);
    if (request.list_processes) return list_processes(connection, id);

    Status status = refusal(Errc::unimplemented, "this agent does not know the request");
    if (request.configure) status = configure(*request.configure);
    if (request.signal) status = signal(*request.signal);
    if (request.release) status = release(*request.release);
    if (request.resize) status = resize(*request.resize);
    connection.send_end(id, status);
    return nullptr;
}

std::unique_ptr<Stream> Agent::open_process(Connection& connection, std::uint32_t id, wire::Spawn& spawn) {
    const auto start = [&]() -> Answer<Process*> {
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

std::unique_ptr<Stream> Agent::list_processes(Connection& connection, std::uint32_t id) {
    auto replies = std::make_unique<Replies>(connection, id);
    wire::ProcessList list;
    std::size_t size = 0;
    for (wire::ProcessInfo& info : processes_.list()) {
        size += wire::encode(info).size();
        list.processes.push_back(std::move(info));
        if (size < kListEvent) continue;
        replies->add(wire::encode(std::exchange(list, {})));
        size = 0;
    }
    if (!list.processes.empty()) replies->add(wire::encode(list));  // an event is never empty
    return replies;
}

Status Agent::configure(wire::Configure& configure) {
    settings_.configured = std::move(configure);
    host_.set_configured();
    return {};
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
