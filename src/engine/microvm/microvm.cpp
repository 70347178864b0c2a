#include "engine/microvm/microvm.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"
#include "engine/microvm/box_files.hpp"
#include "engine/microvm/disks.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/qmp.hpp"
#include "engine/microvm/saved_machine.hpp"
#include "engine/microvm/start_box.hpp"
#include "engine/microvm/unix_socket.hpp"
#include "engine/microvm/vm.hpp"
#include "engine/microvm/warm_machines.hpp"

namespace oyat::microvm {
namespace {

constexpr Millis kSavePatience{20'000};
constexpr Millis kUndoPatience{500};
constexpr int kEndPatienceMs = 10'000;

Machine machine_for(const Survey& survey, const engine::Parts& parts) {
    Machine machine{.qemu = survey.qemu,
                    .accelerator = survey.accelerator,
                    .guest = survey.guest,
                    .base = base_name(parts.template_digest, parts.lowers),
                    .tsc_khz = survey.tsc_khz};
    set_size(machine, parts.limits);
    return machine;
}

// Names the saved memory that a start will go on from.
std::string memory_key(const Places& places, const Machine& machine, const engine::Parts& parts) {
    if (parts.memory < 0) return warm_directory(places, machine);
    struct stat status{};
    sys(::stat(memory_path(parts.memory).c_str(), &status), "look at the saved memory");
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + ":" +
           std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

void end(const engine::Process& process) {
    engine::kill_process(process);
    pollfd ended{process.pidfd.get(), POLLIN, 0};
    if (sys(::poll(&ended, 1, kEndPatienceMs), "wait for QEMU's end") == 0) {
        throw Error{Errc::deadline, Fault::engine, "QEMU does not end"};
    }
}

void let_it_go_on(const Places& places, const std::string& id) noexcept {
    try {
        Qmp control{control_socket(places.box(id)), kUndoPatience};
        control.ask("migrate_cancel");
        control.ask("cont");
    } catch (const Error& error) {
        log::error("a machine stands still", {{"id", id}, {"why", error.message()}});
    }
}

}  // namespace

Microvm::Microvm(Options options) : options_{std::move(options)} {
    make_places(options_.places);
    if (!what_is_missing(options_.places).empty()) return;
    survey_ = kept_survey(options_.places, options_.accelerator);
    if (survey_) return;
    looking_ = engine::forked(
        [places = options_.places, wanted = options_.accelerator] {
            const Fd lock = survey_lock(places);
            Survey survey = look_around(places);
            remove_outdated_warm(places, survey.qemu, survey.guest);
            choose_accelerator(places, wanted, survey);
            keep_survey(places, wanted, survey);
            return std::string{};
        },
        [] {});
}

// What only helped along goes; what is known of living sandboxes stays for the next keeper.
Microvm::~Microvm() {
    looking_.reset();
    std::error_code ignored;
    std::vector<std::filesystem::path> helpers;
    for (const auto& entry : std::filesystem::directory_iterator{options_.places.run, ignored}) {
        if (entry.path() != options_.places.boxes()) helpers.push_back(entry.path());
    }
    for (const std::filesystem::path& path : helpers) std::filesystem::remove_all(path, ignored);
    ::rmdir(options_.places.boxes().c_str());
    ::rmdir(options_.places.run.c_str());
}

void Microvm::take_in_survey() const {
    if (!looking_) return;
    const std::optional<Result<std::string>> outcome = looking_->advance();
    if (!outcome) return;
    looking_.reset();
    if (!*outcome) failed_ = outcome->error().message();
    survey_ = kept_survey(options_.places, options_.accelerator);
}

wire::EngineInfo Microvm::info() const {
    take_in_survey();
    wire::EngineInfo info{.name = "microvm", .boundary = "own-kernel"};
    info.reason = what_is_missing(options_.places);
    if (info.reason.empty()) info.reason = failed_;
    // Until it is known whether an emulator makes the boundary, nothing is claimed.
    if (info.reason.empty() && !survey_) info.reason = "it is being tried out";
    info.available = info.reason.empty();
    if (!info.available) return info;
    info.capabilities = {"pause", "disk_snapshot", "disk_fork", "memory_snapshot", "memory_fork"};
    info.version = survey_->qemu;
    info.kernel = survey_->release;
    info.accelerator = survey_->accelerator;
    info.emulated = survey_->accelerator == "tcg";
    info.reason = survey_->why_not_kvm;
    return info;
}

std::unique_ptr<engine::Work<engine::Process>> Microvm::start(const engine::Parts& parts) {
    take_in_survey();
    const std::string missing = what_is_missing(options_.places);
    if (!missing.empty()) throw Error{Errc::unavailable, Fault::oyat_operator, missing};
    make_places(options_.places);  // an engine that ends takes what is empty of them along
    const Fd tap = parts.network->tap();
    // A survey that is still being taken is the child's to wait for; its memory is then only its own.
    std::optional<Machine> machine;
    Fd own_memory;
    int memory = -1;
    if (survey_) {
        machine = machine_for(*survey_, parts);
        memory = shelf_.file_for(memory_key(options_.places, *machine, parts));
    } else {
        own_memory = make_memory_file();
        memory = own_memory.get();
    }
    // The child begins here and now, so it may look at what is borrowed.
    return engine::forked_start(
        [&] {
            if (!machine)
                machine = machine_for(survey_after_wait(options_.places, options_.accelerator), parts);
            return start_box(options_.places, *machine, parts, {.tap = tap.get(), .memory = memory});
        },
        [group = *parts.group] { group.kill(); });
}

Fd Microvm::connect_agent(const engine::Running& sandbox) {
    Fd socket = connect_to(agent_socket(options_.places, sandbox.id));
    sys(::fcntl(socket.get(), F_SETFL, O_NONBLOCK), "prepare a connection");
    return socket;
}

std::unique_ptr<engine::Work<engine::Nothing>> Microvm::checkpoint(const engine::Running& sandbox, int into,
                                                                   Afterwards afterwards,
                                                                   std::function<void()> meanwhile) {
    const std::string id{sandbox.id};
    return engine::forked_doing(
        [&] {  // runs here and now
            const Machine machine = read_box_machine(options_.places, id);
            try {
                Qmp control{control_socket(options_.places.box(id)), kSavePatience};
                save_machine(control, machine, into, meanwhile);
                if (afterwards == Afterwards::goes_on) control.ask("cont");
            } catch (const Error&) {
                let_it_go_on(options_.places, id);
                throw;
            }
            if (afterwards == Afterwards::ends) end(sandbox.process);
            sync_saved(into);
        },
        [places = options_.places, id] { let_it_go_on(places, id); });
}

void Microvm::set_limits(const engine::Running&, const wire::BoxLimits& before,
                         const wire::BoxLimits& limits) {
    Machine now;
    Machine wanted;
    set_size(now, before);
    set_size(wanted, limits);
    if (now == wanted) return;
    throw Error{Errc::unimplemented,
                "the memory, disk and number of processors of a microvm can't be changed while it runs"};
}

void Microvm::adopted(const engine::Running& sandbox) noexcept {
    let_it_go_on(options_.places, std::string{sandbox.id});
}

void Microvm::forget(std::string_view id) noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(options_.places.box(id), ignored);
}

std::vector<std::string> Microvm::remembered() const {
    std::vector<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator{options_.places.boxes()}) {
        ids.push_back(entry.path().filename());
    }
    return ids;
}

void Microvm::template_gone(std::string_view digest) noexcept {
    const std::string prefix = base_prefix(digest);
    for (const std::string& directory : {options_.places.bases(), options_.places.warm()}) {
        std::error_code ignored;
        std::vector<std::filesystem::path> gone;
        for (const auto& entry : std::filesystem::directory_iterator{directory, ignored}) {
            if (entry.path().filename().string().starts_with(prefix)) gone.push_back(entry.path());
        }
        for (const std::filesystem::path& path : gone) std::filesystem::remove_all(path, ignored);
    }
}

}  // namespace oyat::microvm
