#pragma once

#include <optional>
#include <string>

#include "core/event.hpp"
#include "core/process.hpp"
#include "core/sandbox_record.hpp"

// What is asked and noted about a command before it starts.
namespace oyat::core {

// Nothing, or what no program could be started with.
[[nodiscard]] std::optional<Error> malformed(const RunRequest& request);

// command.requested, without its verdict. Names of variables only.
[[nodiscard]] Event requested_event(const SandboxRecord& record, const RunRequest& request,
                                    const Principal& who);

// The agent keeps our id of a command beside the client's tag, so that the record goes on after a restart.
struct MarkedTag {
    std::string command;
    std::string tag;
};
[[nodiscard]] std::string write_mark(const MarkedTag& tag);
[[nodiscard]] MarkedTag read_mark(const std::string& text);

}  // namespace oyat::core
