#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/fd.hpp"
#include "io/channel.hpp"

namespace oyat::cli {

// Standard input for a loop. A thread of its own reads it: it may be a file, which cannot be polled, or a
// terminal that other programs share and that must not be made non-blocking.
class StdinReader {
public:
    explicit StdinReader(Executor executor);
    StdinReader(const StdinReader&) = delete;
    StdinReader& operator=(const StdinReader&) = delete;
    ~StdinReader();

    // The next bytes; "" at the end of the input.
    Task<std::string> next();

private:
    struct Shared;
    static void read_all(Executor executor, std::shared_ptr<Shared> shared);

    std::shared_ptr<Shared> shared_;  // with the thread, and with what it has posted to the loop
    std::thread thread_;
};

}  // namespace oyat::cli
