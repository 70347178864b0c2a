#include "keeper/record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::keeper {
namespace {

// A file is its record's length, four bytes, and the record; what follows is the rest of a longer one that
// stood there before. It stays below a page, so that one write(2) is done or not done when its writer is
// killed.
constexpr std::size_t kHeader = 4;
constexpr std::size_t kMaxFile = 4096;

std::string to_file(const BoxRecord& record) {
    const std::string bytes = wire::encode(record);
    OYAT_ASSERT(kHeader + bytes.size() <= kMaxFile);
    std::string file;
    for (std::size_t at = 0; at < kHeader; ++at) file += static_cast<char>(bytes.size() >> (8 * at));
    return file + bytes;
}

Result<BoxRecord> read_record(int dir, const std::string& name) {
    const Fd file{::openat(dir, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!file) return refuse(Errc::not_found, "no such record");
    std::array<char, kMaxFile> bytes;
    const ssize_t n = ::read(file.get(), bytes.data(), bytes.size());
    if (n < static_cast<ssize_t>(kHeader)) return refuse(Errc::invalid_argument, "bad length");
    std::size_t length = 0;
    for (std::size_t at = 0; at < kHeader; ++at)
        length |= std::size_t{static_cast<unsigned char>(bytes[at])} << (8 * at);
    if (length > static_cast<std::size_t>(n) - kHeader) return refuse(Errc::invalid_argument, "bad length");
    Result<BoxRecord> record = wire::decode<BoxRecord>({bytes.data() + kHeader, length});
    if (record && (record->id != name || record->format != BoxRecord::kFormat)) {
        return refuse(Errc::invalid_argument, "not a record of this format");
    }
    return record;
}

}  // namespace

Records::Records(const std::string& dir) {
    in("records", [&] {
        if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) throw errno_error(errno, "make " + dir);
        dir_.reset(sys(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + dir));
    });
}

void Records::write(const BoxRecord& record) const {
    in("record " + record.id, [&] {
        const std::string bytes = to_file(record);
        const Fd file{
            sys(::openat(dir_.get(), record.id.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "open")};
        if (sys(::pwrite(file.get(), bytes.data(), bytes.size(), 0), "write") ==
            static_cast<ssize_t>(bytes.size()))
            return;
        throw Error{Errc::exhausted, Fault::oyat_operator, "the state's file system is full"};
    });
}

void Records::write_durably(const BoxRecord& record) const {
    write(record);
    in("record " + record.id, [&] {
        const Fd file{sys(::openat(dir_.get(), record.id.c_str(), O_RDONLY | O_CLOEXEC), "open")};
        sys(::fsync(file.get()), "sync");
        sys(::fsync(dir_.get()), "sync the directory");
    });
}

void Records::remove(std::string_view id) const noexcept {
    ::unlinkat(dir_.get(), std::string{id}.c_str(), 0);
}

std::vector<BoxRecord> Records::read_all() const {
    std::vector<BoxRecord> records;
    for (const std::string& name : layers::names_in(dir_.get())) {
        if (Result<BoxRecord> record = read_record(dir_.get(), name)) {
            records.push_back(*std::move(record));
        } else {
            log::warn("removing a file that is no record", {{"why", record.error().message()}});
            ::unlinkat(dir_.get(), name.c_str(), 0);
        }
    }
    return records;
}

}  // namespace oyat::keeper
