#pragma once

#include <fcntl.h>

#include <filesystem>
#include <string>

#include "audit/segment_file.hpp"
#include "base/fd.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::audit {

// For tests: a directory with segments, opened as the keeper opens them.
class TestFiles {
public:
    TestFiles() { std::filesystem::create_directory(directory_); }
    TestFiles(const TestFiles&) = delete;
    TestFiles& operator=(const TestFiles&) = delete;
    ~TestFiles() { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string path(const std::string& chain, std::uint32_t segment) const {
        return directory_ / file_name({chain, segment});
    }
    [[nodiscard]] Fd open(const std::string& chain, std::uint32_t segment) const {
        return Fd{
            sys(::open(path(chain, segment).c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0640), "open")};
    }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

private:
    std::filesystem::path directory_ =
        std::filesystem::temp_directory_path() / ("oyat-audit-" + random_hex(8));
};

}  // namespace oyat::audit
