#include "core/recorded_files.hpp"

#include <utility>

#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::core {
namespace {

constexpr std::size_t kLongestPath = 4096;

void check_path(const std::string& path) {
    if (path.size() > kLongestPath) throw Error{Errc::invalid_argument, "path of more than 4096 bytes"};
    if (path.find('\0') != std::string::npos) throw Error{Errc::invalid_argument, "path with a NUL byte"};
}

}  // namespace

Event RecordedFiles::event_of(std::string type, const std::string& path, const std::string& user,
                              const Principal& who) const {
    check_path(path);
    if (user.find('\0') != std::string::npos) throw Error{Errc::invalid_argument, "user with a NUL byte"};
    Event event = sandbox_event(record_, std::move(type));
    event.fields["path"] = json_text(path);
    event.fields["user"] = json_text(user);
    add_who(event, who);
    return event;
}

Error RecordedFiles::refused(const Event& intended, const Error& error) {
    if (error.code() == Errc::exhausted && error.fault() == Fault::limit) limits_.hit("disk", Witness::agent);
    Event event = intended;
    event.fields["operation"] = std::string_view{intended.type}.substr(std::string_view{"file."}.size());
    event.type = "file.refused";
    const Error shown = masks_.hide(record_.id, error);
    add_failure(event, shown);
    return Error{shown}.recorded_as(emit_or_log(events_, std::move(event)));
}

template <class T>
Task<T> RecordedFiles::done(const Event& intended, Task<T> call) {
    std::optional<Error> failed;
    try {
        co_return co_await std::move(call);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        failed = e;
    }
    throw refused(intended, *failed);
}

Task<FileEntry> RecordedFiles::stat(std::string path, std::string user, Principal who) {
    Event event = event_of("file.stat", path, user, who);
    const auto agent = door_->channel();
    FileEntry entry = co_await done(event, agent->stat(std::move(path), std::move(user)));
    events_.emit(std::move(event));
    co_return entry;
}

Task<std::unique_ptr<DirListing>> RecordedFiles::list(std::string path, std::string user, std::uint32_t depth,
                                                      Principal who) {
    Event event = event_of("file.listed", path, user, who);
    event.fields["depth"] = depth;
    const auto agent = door_->channel();
    auto listing = co_await done(event, agent->list(std::move(path), std::move(user), depth));
    events_.emit(std::move(event));
    co_return listing;
}

Task<FileEntry> RecordedFiles::make_dir(std::string path, std::string user, Principal who) {
    Event event = event_of("file.made", path, user, who);
    const auto agent = door_->channel();
    FileEntry entry = co_await done(event, agent->make_dir(std::move(path), std::move(user), 0));
    events_.emit(std::move(event));
    co_return entry;
}

Task<FileEntry> RecordedFiles::move(std::string source, std::string destination, std::string user,
                                    Principal who) {
    check_path(destination);
    Event event = event_of("file.moved", source, user, who);
    event.fields["to"] = json_text(destination);
    const auto agent = door_->channel();
    FileEntry entry =
        co_await done(event, agent->move(std::move(source), std::move(destination), std::move(user)));
    events_.emit(std::move(event));
    co_return entry;
}

Task<> RecordedFiles::remove(std::string path, std::string user, Principal who) {
    Event event = event_of("file.removed", path, user, who);
    const auto agent = door_->channel();
    co_await done(event, agent->remove(std::move(path), std::move(user), false));
    events_.emit(std::move(event));
}

Task<FileEntry> RecordedFiles::compose(std::vector<std::string> sources, std::string destination,
                                       std::string user, Principal who) {
    for (const std::string& source : sources) check_path(source);
    Event event = event_of("file.composed", destination, user, who);
    event.fields["sources"] = json_texts(sources);
    const auto agent = door_->channel();
    FileEntry entry =
        co_await done(event, agent->compose(std::move(sources), std::move(destination), std::move(user)));
    event.fields["bytes"] = entry.size;
    events_.emit(std::move(event));
    co_return entry;
}

Task<std::unique_ptr<FileSource>> RecordedFiles::read(std::string path, std::string user,
                                                      std::uint64_t offset, std::uint64_t length,
                                                      Principal who) {
    Event event = event_of("file.read", path, user, who);
    const auto agent = door_->channel();
    auto source = co_await done(event, agent->read(std::move(path), std::move(user), offset, length));
    event.fields["bytes"] = source->entry().size;
    if (offset != 0 || length != 0) {
        event.fields["offset"] = offset;
        event.fields["length"] = length;
    }
    events_.emit(std::move(event));
    co_return source;
}

// Counts what goes into a file and records it when the agent has it all.
class RecordedFiles::Sink final : public FileSink {
public:
    Sink(RecordedFiles& files, std::unique_ptr<FileSink> into, Event event)
        : files_{files}, into_{std::move(into)}, event_{std::move(event)} {}

    Task<> write(std::string_view bytes) override {
        bytes_ += bytes.size();
        co_await files_.done(event_, into_->write(bytes));
    }
    Task<FileEntry> finish() override {
        FileEntry entry = co_await files_.done(event_, into_->finish());
        event_.fields["bytes"] = bytes_;
        files_.events_.emit(std::move(event_));
        co_return entry;
    }

private:
    RecordedFiles& files_;  // of the sandbox, which whoever writes into it holds
    std::unique_ptr<FileSink> into_;
    Event event_;
    std::uint64_t bytes_ = 0;
};

Task<std::unique_ptr<FileSink>> RecordedFiles::write(std::string path, std::string user,
                                                     std::map<std::string, std::string> metadata,
                                                     Principal who) {
    Event event = event_of("file.written", path, user, who);
    const auto agent = door_->channel();
    auto sink = co_await done(event, agent->write(std::move(path), std::move(user), std::move(metadata)));
    co_return std::make_unique<Sink>(*this, std::move(sink), std::move(event));
}

Task<std::unique_ptr<FileWatch>> RecordedFiles::watch(std::string path, std::string user, bool recursive,
                                                      bool with_entry, bool allow_network_mounts,
                                                      Principal who) {
    Event event = event_of("file.watched", path, user, who);
    event.fields["recursive"] = recursive;
    const auto agent = door_->channel();
    auto watch = co_await done(
        event, agent->watch(std::move(path), std::move(user), recursive, with_entry, allow_network_mounts));
    events_.emit(std::move(event));
    co_return watch;
}

Task<UserFacts> RecordedFiles::resolve_user(std::string user) {
    const auto agent = door_->channel();
    co_return co_await agent->resolve_user(std::move(user));
}

}  // namespace oyat::core
