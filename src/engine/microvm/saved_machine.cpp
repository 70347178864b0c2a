#include "engine/microvm/saved_machine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/memory_stream.hpp"

namespace oyat::microvm {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr const char* kMemory = "memory";
constexpr const char* kState = "device.state";
constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kRun = std::size_t{256} << 10;
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 40;

std::string path_in(int directory, const char* name) {
    return "/proc/self/fd/" + std::to_string(directory) + "/" + name;
}

Fd make_file(int directory, const char* name) {
    return Fd{sys(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
                  std::string{"make "} + name)};
}

// Pages that follow each other are written together.
class PageWriter {
public:
    explicit PageWriter(int file) : file_{file} {}

    void page(std::uint64_t at, std::string_view content) {
        if (at != start_ + run_.size() || run_.size() >= kRun) flush();
        if (run_.empty()) start_ = at;
        run_ += content;
    }
    void flush() {
        std::string_view rest = run_;
        for (std::uint64_t at = start_; !rest.empty();) {
            const ssize_t wrote =
                sys(::pwrite(file_, rest.data(), rest.size(), static_cast<off_t>(at)), "write memory");
            rest.remove_prefix(static_cast<std::size_t>(wrote));
            at += static_cast<std::uint64_t>(wrote);
        }
        run_.clear();
    }

private:
    int file_;
    std::uint64_t start_ = 0;
    std::string run_;
};

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        sys(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
        reader = Fd{ends[0]};
        writer = Fd{ends[1]};
        ::fcntl(writer.get(), F_SETPIPE_SZ, kPipeBytes);  // only faster
    }
    Fd reader;
    Fd writer;
};

void begin(Qmp& control, Pipe& pipe) {
    control.ask("stop");
    const boost::json::object events{{"capability", "events"}, {"state", true}};
    control.ask("migrate-set-capabilities", {{"capabilities", boost::json::array{events}}});
    control.ask("migrate-set-parameters", {{"max-bandwidth", kUnlimited}});
    control.ask("getfd", {{"fdname", "state"}}, pipe.writer.get());
    pipe.writer.reset();
    control.ask("migrate", {{"uri", "fd:state"}});
}

}  // namespace

void save_machine(Qmp& control, const Machine& machine, int into, const std::function<void()>& meanwhile) {
    const std::uint64_t bytes = machine.memory_mib << 20;
    const Fd memory = make_file(into, kMemory);
    const Fd state = make_file(into, kState);
    sys(::ftruncate(memory.get(), static_cast<off_t>(bytes)), "size the memory");
    Pipe pipe;
    begin(control, pipe);
    PageWriter pages{memory.get()};
    split_memory(
        [&](char* room, std::size_t size) {
            return static_cast<std::size_t>(sys(::read(pipe.reader.get(), room, size), "read from QEMU"));
        },
        kMemoryBlock, bytes,
        {.state = [&](std::string_view part) { write_all(state.get(), part); },
         .page = [&](std::uint64_t at, std::string_view content) { pages.page(at, content); }});
    pages.flush();
    control.wait_for_migration();
    write_all(make_file(into, kManifest).get(), to_json(machine));
    meanwhile();
}

void sync_saved(int directory) {
    for (const char* name : {kMemory, kState, kManifest}) {
        const Fd file = open_file(path_in(directory, name), O_RDONLY);
        sys(::fsync(file.get()), std::string{"sync "} + name);
    }
}

Machine read_manifest(int directory) {
    return or_throw(machine_from_json(read_whole(path_in(directory, kManifest))));
}

std::string memory_path(int directory) {
    return path_in(directory, kMemory);
}

std::string state_path(int directory) {
    return path_in(directory, kState);
}

}  // namespace oyat::microvm
