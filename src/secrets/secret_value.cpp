#include "secrets/secret_value.hpp"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/throwing.hpp"

namespace oyat::secrets {

SecretValue SecretValue::of_size(std::size_t size) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    SecretValue made;
    made.mapped_ = (std::max<std::size_t>(size, 1) + page - 1) / page * page;
    void* const place =
        ::mmap(nullptr, made.mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw errno_error(errno, "memory for a secret");
    made.data_ = static_cast<char*>(place);
    made.size_ = size;
    sys(::mlock(place, made.mapped_), "lock the memory of a secret");
    sys(::madvise(place, made.mapped_, MADV_DONTDUMP), "keep a secret out of core dumps");
    return made;
}

SecretValue::SecretValue(std::string_view bytes) {
    SecretValue made = of_size(bytes.size());
    if (!bytes.empty()) std::memcpy(made.data_, bytes.data(), bytes.size());
    *this = std::move(made);
}

SecretValue::SecretValue(SecretValue&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)},
      size_{std::exchange(other.size_, 0)},
      mapped_{std::exchange(other.mapped_, 0)} {}

SecretValue& SecretValue::operator=(SecretValue&& other) noexcept {
    if (this != &other) {
        wipe();
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        mapped_ = std::exchange(other.mapped_, 0);
    }
    return *this;
}

SecretValue::~SecretValue() {
    wipe();
}

unsigned char* SecretValue::fill() noexcept {
    return reinterpret_cast<unsigned char*>(data_);
}

void SecretValue::shrink(std::size_t size) noexcept {
    size_ = std::min(size, size_);
}

void SecretValue::wipe() noexcept {
    if (data_ == nullptr) return;
    OPENSSL_cleanse(data_, mapped_);
    ::munmap(std::exchange(data_, nullptr), std::exchange(mapped_, 0));
    size_ = 0;
}

}  // namespace oyat::secrets
