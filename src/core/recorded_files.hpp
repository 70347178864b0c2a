#pragma once

#include <memory>
#include <string>

#include "core/agent_door.hpp"
#include "core/files.hpp"
#include "core/limit_watch.hpp"
#include "core/masks.hpp"

namespace oyat::core {

// The files of one sandbox, each call with its event. What is read is recorded before the first byte goes
// out; what changes something, when the agent has said that it is done and before the client hears of it.
class RecordedFiles final : public Files {
public:
    RecordedFiles(const SandboxRecord& record, EventBus& events, Masks& masks, LimitWatch& limits,
                  std::shared_ptr<AgentDoor> door)
        : record_{record}, events_{events}, masks_{masks}, limits_{limits}, door_{std::move(door)} {}

    Task<FileEntry> stat(std::string path, std::string user, Principal who) override;
    Task<std::unique_ptr<DirListing>> list(std::string path, std::string user, std::uint32_t depth,
                                           Principal who) override;
    Task<FileEntry> make_dir(std::string path, std::string user, Principal who) override;
    Task<FileEntry> move(std::string source, std::string destination, std::string user,
                         Principal who) override;
    Task<> remove(std::string path, std::string user, Principal who) override;
    Task<FileEntry> compose(std::vector<std::string> sources, std::string destination, std::string user,
                            Principal who) override;
    Task<std::unique_ptr<FileSource>> read(std::string path, std::string user, std::uint64_t offset,
                                           std::uint64_t length, Principal who) override;
    Task<std::unique_ptr<FileSink>> write(std::string path, std::string user,
                                          std::map<std::string, std::string> metadata,
                                          Principal who) override;
    Task<std::unique_ptr<FileWatch>> watch(std::string path, std::string user, bool recursive,
                                           bool with_entry, bool allow_network_mounts,
                                           Principal who) override;
    Task<UserFacts> resolve_user(std::string user) override;

private:
    class Sink;
    // The event of a call, with path, user and who asked. Throws Error{invalid_argument} for no path at all.
    [[nodiscard]] Event event_of(std::string type, const std::string& path, const std::string& user,
                                 const Principal& who) const;
    // Records that a call was refused; returns the error to throw.
    [[nodiscard]] Error refused(const Event& intended, const Error& error);
    // Awaits the agent's part of a call; a refusal is recorded.
    template <class T>
    Task<T> done(const Event& intended, Task<T> call);

    const SandboxRecord& record_;
    EventBus& events_;
    Masks& masks_;
    LimitWatch& limits_;
    std::shared_ptr<AgentDoor> door_;
};

}  // namespace oyat::core
