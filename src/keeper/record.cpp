#include "keeper/record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::keeper {
namespace {

constexpr std::size_t kMaxRecord = std::size_t{16} << 10;

// ".new" cannot be the name of a box, so the half of a record that a killed keeper left is told apart.
std::string draft_name(std::string_view id) {
    return std::string{id} + ".new";
}

Result<BoxRecord> read_record(int dir, const std::string& name) {
    const Fd file{::openat(dir, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!file) return refuse(Errc::not_found, "no such record");
    std::string bytes(kMaxRecord, '\0');
    const ssize_t n = ::read(file.get(), bytes.data(), bytes.size());
    if (n <= 0 || static_cast<std::size_t>(n) == bytes.size())
        return refuse(Errc::invalid_argument, "bad length");
    bytes.resize(static_cast<std::size_t>(n));
    Result<BoxRecord> record = wire::decode<BoxRecord>(bytes);
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
        const std::string bytes = wire::encode(record);
        const std::string draft = draft_name(record.id);
        const Fd file{
            sys(::openat(dir_.get(), draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "open")};
        if (sys(::write(file.get(), bytes.data(), bytes.size()), "write") !=
            static_cast<ssize_t>(bytes.size())) {
            throw Error{Errc::exhausted, Fault::oyat_operator, "the state's file system is full"};
        }
        sys(::renameat(dir_.get(), draft.c_str(), dir_.get(), record.id.c_str()), "rename");
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
