#pragma once

#include "core/agent_channel.hpp"
#include "core/principal.hpp"

namespace oyat::core {

// The files of one sandbox. The same calls as the agent's, with policy and record: every call leaves an event
// (file.written, file.read, file.listed, ...) with path, user, size and who asked.
class Files {
public:
    virtual ~Files() = default;
    virtual Task<FileEntry> stat(std::string path, std::string user, Principal who) = 0;
    virtual Task<std::unique_ptr<DirListing>> list(std::string path, std::string user, std::uint32_t depth,
                                                   Principal who) = 0;
    virtual Task<FileEntry> make_dir(std::string path, std::string user, Principal who) = 0;
    virtual Task<FileEntry> move(std::string source, std::string destination, std::string user,
                                 Principal who) = 0;
    virtual Task<> remove(std::string path, std::string user, Principal who) = 0;
    virtual Task<FileEntry> compose(std::vector<std::string> sources, std::string destination,
                                    std::string user, Principal who) = 0;
    virtual Task<std::unique_ptr<FileSource>> read(std::string path, std::string user, std::uint64_t offset,
                                                   std::uint64_t length, Principal who) = 0;
    virtual Task<std::unique_ptr<FileSink>> write(std::string path, std::string user,
                                                  std::map<std::string, std::string> metadata,
                                                  Principal who) = 0;
    virtual Task<std::unique_ptr<FileWatch>> watch(std::string path, std::string user, bool recursive,
                                                   bool with_entry, bool allow_network_mounts,
                                                   Principal who) = 0;
    virtual Task<UserFacts> resolve_user(std::string user) = 0;
};

}  // namespace oyat::core
