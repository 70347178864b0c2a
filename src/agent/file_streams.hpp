#pragma once

#include <cstdint>
#include <memory>

#include "agent/actor.hpp"
#include "agent/connection.hpp"
#include "agent/loop.hpp"
#include "agent/stream.hpp"
#include "agent/users.hpp"
#include "wire/agent_messages.hpp"

// The file requests that take more than one moment. Each is a stream that works in short steps, as far as
// credit allows, and says its refusal with END. A refusal of code 0 from here means that there is nothing to
// do.
namespace oyat::agent {

// Where a stream comes from and what it works with.
struct FileJob {
    Loop& loop;
    Users& users;
    Connection& connection;
    std::uint32_t id;
    Actor actor;
};

[[nodiscard]] Answer<std::unique_ptr<Stream>> read_file(FileJob job, const wire::ReadFile& request);
[[nodiscard]] Answer<std::unique_ptr<Stream>> write_file(FileJob job, const wire::WriteFile& request);
[[nodiscard]] Answer<std::unique_ptr<Stream>> list_directory(FileJob job, const wire::ListDir& request);
[[nodiscard]] Answer<std::unique_ptr<Stream>> remove_path(FileJob job, const wire::Remove& request);
[[nodiscard]] Answer<std::unique_ptr<Stream>> move_path(FileJob job, const wire::Move& request);
[[nodiscard]] Answer<std::unique_ptr<Stream>> compose_file(FileJob job, const wire::Compose& request);

struct WatchCount {
    static constexpr std::size_t kMost = 64;
    std::size_t open = 0;
};
[[nodiscard]] Answer<std::unique_ptr<Stream>> watch_directory(FileJob job, const wire::Watch& request,
                                                              WatchCount& count);

}  // namespace oyat::agent
