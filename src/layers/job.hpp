#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "layers/template_meta.hpp"

namespace oyat::layers {

// Slow work in a forked child. The keeper polls `fd()` and calls `advance()` when it is readable.
class Job {
public:
    struct Progress {
        std::uint64_t files = 0;
        std::uint64_t bytes = 0;
    };

    // Kills the child and undoes what it had begun, if it still runs.
    virtual ~Job() = default;

    // Readable when the child has something to say or has ended.
    [[nodiscard]] virtual int fd() const noexcept = 0;

    // Takes what the child said. The outcome, once it has ended and been reaped; nothing before.
    [[nodiscard]] virtual std::optional<Result<TemplateMeta>> advance() = 0;

    [[nodiscard]] virtual Progress progress() const noexcept = 0;
};

}  // namespace oyat::layers
