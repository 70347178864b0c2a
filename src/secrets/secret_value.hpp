#pragma once

#include <cstddef>
#include <string_view>

namespace oyat::secrets {

// The true value of a secret, for the moment in which it is needed: in pages of its own that are locked into
// memory (never in swap), left out of core dumps, and wiped at the end. There is no way to print one; whoever
// needs the bytes says so by bytes().
class SecretValue {
public:
    // Throws Error{exhausted} when no memory can be locked.
    explicit SecretValue(std::string_view bytes);
    static SecretValue of_size(std::size_t size);  // zeros, to be filled

    SecretValue(SecretValue&& other) noexcept;
    SecretValue& operator=(SecretValue&& other) noexcept;
    SecretValue(const SecretValue&) = delete;
    SecretValue& operator=(const SecretValue&) = delete;
    ~SecretValue();

    [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] unsigned char* fill() noexcept;
    // Only ever shorter.
    void shrink(std::size_t size) noexcept;

private:
    SecretValue() = default;
    void wipe() noexcept;

    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_ = 0;
};

}  // namespace oyat::secrets
