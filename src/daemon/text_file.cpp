#include "daemon/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::daemon {

std::string read_text_file(const std::string& path) {
    constexpr std::size_t kLongest = 1u << 20;
    return in("read " + path, [&] {
        const Fd file{sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY), "open")};
        std::string text(kLongest + 1, '\0');
        std::size_t size = 0;
        while (const auto count = sys(::read(file.get(), text.data() + size, text.size() - size), "read")) {
            size += static_cast<std::size_t>(count);
            if (size > kLongest)
                throw Error{Errc::invalid_argument, Fault::oyat_operator, "longer than 1 MiB"};
        }
        text.resize(size);
        return text;
    });
}

}  // namespace oyat::daemon
