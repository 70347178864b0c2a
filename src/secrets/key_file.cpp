#include "secrets/key_file.hpp"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "secrets/seal.hpp"

namespace oyat::secrets {
namespace {

constexpr std::size_t kDigits = 2 * Seal::kKeyBytes;

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

Error no_key() {
    return {Errc::failed_precondition, Fault::oyat_operator, "it does not hold a key of 64 hex digits"};
}

SecretValue parse(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.size() != kDigits) throw no_key();
    SecretValue key = SecretValue::of_size(Seal::kKeyBytes);
    for (std::size_t i = 0; i < Seal::kKeyBytes; ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) throw no_key();
        key.fill()[i] = static_cast<unsigned char>(high << 4 | low);
    }
    return key;
}

// Under its final name only when it is whole and on the disk: half a key would lock everything out.
SecretValue make(const std::string& path) {
    SecretValue key = SecretValue::of_size(Seal::kKeyBytes);
    if (RAND_bytes(key.fill(), Seal::kKeyBytes) != 1) throw Error{Errc::internal, "no random bytes"};
    SecretValue text = SecretValue::of_size(kDigits + 1);
    constexpr std::string_view kHex = "0123456789abcdef";
    for (std::size_t i = 0; i < Seal::kKeyBytes; ++i) {
        text.fill()[2 * i] = static_cast<unsigned char>(kHex[key.fill()[i] >> 4]);
        text.fill()[2 * i + 1] = static_cast<unsigned char>(kHex[key.fill()[i] & 15]);
    }
    text.fill()[kDigits] = '\n';
    const std::string fresh = path + ".new";
    ::unlink(fresh.c_str());  // of a start that was cut short
    const Fd file{
        sys(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400), "make")};
    if (sys(::write(file.get(), text.bytes().data(), text.bytes().size()), "write") !=
        static_cast<ssize_t>(text.bytes().size())) {
        throw Error{Errc::exhausted, Fault::oyat_operator, "no room for it"};
    }
    sys(::fsync(file.get()), "sync");
    // link(2), not rename(2): a key that another start has just made must not be replaced.
    sys(::link(fresh.c_str(), path.c_str()), "name");
    sys(::unlink(fresh.c_str()), "tidy up");
    return key;
}

}  // namespace

SecretValue read_or_make_key(const std::string& path) {
    return in("key of the secrets " + path, [&] {
        const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
        if (!file) {
            if (errno != ENOENT) throw errno_error(errno, "open");
            return make(path);
        }
        struct stat facts{};
        sys(::fstat(file.get(), &facts), "look at it");
        if (!S_ISREG(facts.st_mode) || (facts.st_mode & 077) != 0 || facts.st_uid != ::geteuid()) {
            throw Error{Errc::failed_precondition, Fault::oyat_operator,
                        "it must be a file that only the user who starts oyatd may read (mode 0400)"};
        }
        SecretValue text = SecretValue::of_size(kDigits + 2);
        const ssize_t size = sys(::read(file.get(), text.fill(), kDigits + 2), "read");
        text.shrink(static_cast<std::size_t>(size));
        return parse(text.bytes());
    });
}

}  // namespace oyat::secrets
