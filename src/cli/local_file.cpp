#include "cli/local_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/terminal.hpp"

namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandard = "-";
constexpr mode_t kPlain = 0666, kExecutable = 0777;

mode_t allowed(mode_t mode) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mode & ~mask;
}

}  // namespace

void local_failure(const fs::path& path, std::string_view what) {
    const int problem = errno;
    throw Failure{
        Error{Errc::failed_precondition, Fault::client,
              std::string{what} + " " + path.string() + ": " + std::generic_category().message(problem)},
        ""};
}

LocalFile::LocalFile(fs::path path) : path_{std::move(path)} {
    if (path_ == kStandard) return;
    std::error_code ignored;
    const fs::file_status there = fs::symlink_status(path_, ignored);
    if (fs::exists(there) && !fs::is_regular_file(there)) {
        file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPlain));
    } else {
        std::string partial = path_.string() + ".part-XXXXXX";
        file_.reset(::mkostemp(partial.data(), O_CLOEXEC));
        if (file_) partial_ = std::move(partial);
    }
    if (!file_) local_failure(path_, "cannot write");
}

LocalFile::~LocalFile() {
    if (!partial_.empty()) ::unlink(partial_.c_str());
}

void LocalFile::write(std::string_view bytes) {
    if (path_ == kStandard) return print(bytes);
    if (!try_print_to(file_.get(), bytes)) local_failure(path_, "cannot write");
}

void LocalFile::finish(Kind kind) {
    if (partial_.empty()) return;
    if (::fchmod(file_.get(), allowed(kind == Kind::executable ? kExecutable : kPlain)) != 0 ||
        ::rename(partial_.c_str(), path_.c_str()) != 0) {
        local_failure(path_, "cannot write");
    }
    partial_.clear();
}

}  // namespace oyat::cli
