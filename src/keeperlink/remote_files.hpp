#pragma once

#include "core/agent_channel.hpp"
#include "keeperlink/open_stream.hpp"

// Files, listings and watches on the other side of a link. Each opens its stream and returns once the agent
// has agreed, so that a refusal is thrown before anything is promised to a client.
namespace oyat::keeperlink {

Task<std::unique_ptr<core::FileSource>> open_source(std::shared_ptr<Link> link, wire::ReadFile request);
Task<std::unique_ptr<core::FileSink>> open_sink(std::shared_ptr<Link> link, wire::WriteFile request);
Task<std::unique_ptr<core::DirListing>> open_listing(std::shared_ptr<Link> link, wire::ListDir request);
Task<std::unique_ptr<core::FileWatch>> open_watch(std::shared_ptr<Link> link, wire::Watch request);

// The one entry of a FileEntries event.
[[nodiscard]] core::FileEntry single_entry(OpenStream& stream, const Piece& piece);

}  // namespace oyat::keeperlink
