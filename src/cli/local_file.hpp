#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::cli {

// A file that is being brought here. It takes its name when it is whole: what stood there before stays until
// then, and a failure half-way leaves nothing. Devices, pipes and links are written as they are; "-" is
// standard output.
class LocalFile {
public:
    enum class Kind { plain, executable };

    explicit LocalFile(std::filesystem::path path);
    LocalFile(const LocalFile&) = delete;
    LocalFile& operator=(const LocalFile&) = delete;
    ~LocalFile();

    void write(std::string_view bytes);
    void finish(Kind kind = Kind::plain);

private:
    std::filesystem::path path_;
    std::string partial_;  // "" = written in place
    Fd file_;
};

// For what can't be read or written here: the system's reason, from errno.
[[noreturn]] void local_failure(const std::filesystem::path& path, std::string_view what);

}  // namespace oyat::cli
