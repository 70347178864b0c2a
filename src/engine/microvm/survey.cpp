#include "engine/microvm/survey.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <utility>

#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"
#include "engine/microvm/guest_files.hpp"
#include "engine/microvm/qemu.hpp"
#include "engine/microvm/tsc.hpp"

namespace oyat::microvm {
namespace {

std::string survey_file(const Places& places) {
    return places.state + "/survey.json";
}

// Tells one file from its successor.
std::string mark_of(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return "none";
    return std::to_string(status.st_ino) + "/" + std::to_string(status.st_size) + "/" +
           std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

std::string circumstances(const Places& places, Accelerator wanted) {
    std::string text;
    for (const std::string& path : {std::string{kProgram}, places.kernel + "/vmlinuz",
                                    places.kernel + "/modules", places.agent, std::string{"/dev/kvm"}}) {
        text += mark_of(path) + " ";
    }
    std::array<char, 64> boot{};
    const Fd file = open_file("/proc/sys/kernel/random/boot_id", 0);
    const ssize_t got = ::read(file.get(), boot.data(), 36);
    return text + std::to_string(std::to_underlying(wanted)) + " " +
           std::string{boot.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))};
}

// "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)", without the first words.
std::string qemu_version() {
    const std::string command = std::string{kProgram} + " --version";
    std::FILE* pipe = ::popen(command.c_str(), "re");
    if (pipe == nullptr) throw errno_error(errno, "ask QEMU for its version");
    std::array<char, 200> line{};
    const bool read = std::fgets(line.data(), line.size(), pipe) != nullptr;
    const bool ended = ::pclose(pipe) == 0;
    std::string_view text{line.data()};
    constexpr std::string_view kMark = "version ";
    const std::size_t at = text.find(kMark);
    if (!read || !ended || at == std::string_view::npos) {
        throw Error{Errc::unavailable, Fault::engine, std::string{kProgram} + " does not tell its version"};
    }
    text.remove_prefix(at + kMark.size());
    return std::string{text.substr(0, text.find('\n'))};
}

}  // namespace

std::string what_is_missing(const Places& places) {
    if (!exists(kProgram)) return "qemu-system-x86 is not installed";
    if (!exists("/usr/bin/mkfs.erofs")) return "erofs-utils is not installed";
    if (!exists("/usr/sbin/mkfs.ext4") && !exists("/sbin/mkfs.ext4")) return "e2fsprogs is not installed";
    if (!exists(places.kernel + "/vmlinuz")) return "there is no kernel in " + places.kernel;
    return {};
}

Survey look_around(const Places& places) {
    const GuestFiles guest = make_guest_files(places);
    return {.qemu = qemu_version(),
            .guest = guest.digest,
            .release = guest.release,
            .accelerator = "tcg",
            .why_not_kvm = "KVM has not been tried yet",
            .tsc_khz = measure_tsc_khz()};
}

std::optional<Survey> kept_survey(const Places& places, Accelerator wanted) {
    if (!exists(survey_file(places))) return std::nullopt;
    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(read_whole(survey_file(places)), error);
    if (error || !value.is_object()) return std::nullopt;
    const boost::json::object& object = value.get_object();
    const auto text = [&](const char* key) {
        const boost::json::value* found = object.if_contains(key);
        return found != nullptr && found->is_string() ? std::string{found->get_string()} : std::string{};
    };
    if (text("circumstances") != circumstances(places, wanted)) return std::nullopt;
    const boost::json::value* khz = object.if_contains("tsc_khz");
    Survey survey{
        .qemu = text("qemu"),
        .guest = text("guest"),
        .release = text("release"),
        .accelerator = text("accelerator"),
        .why_not_kvm = text("why_not_kvm"),
        .tsc_khz = khz != nullptr && khz->is_int64() ? static_cast<std::uint64_t>(khz->get_int64()) : 0};
    if (survey.tsc_khz == 0 || !exists(initrd_file(places, survey.guest))) return std::nullopt;
    return survey;
}

void keep_survey(const Places& places, Accelerator wanted, const Survey& survey) {
    write_whole(survey_file(places), boost::json::serialize(boost::json::object{
                                         {"circumstances", circumstances(places, wanted)},
                                         {"qemu", survey.qemu},
                                         {"guest", survey.guest},
                                         {"release", survey.release},
                                         {"accelerator", survey.accelerator},
                                         {"why_not_kvm", survey.why_not_kvm},
                                         {"tsc_khz", static_cast<std::int64_t>(survey.tsc_khz)}}));
}

}  // namespace oyat::microvm
