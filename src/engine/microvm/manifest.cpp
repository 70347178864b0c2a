#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "engine/microvm/machine.hpp"

namespace oyat::microvm {
namespace {

constexpr std::size_t kMostOfAManifest = 64 * 1024;
constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kMostOfAText = 200;
// The devices that command_line() gives every machine, in its order. What is added there is added here.
constexpr const char* kDevices = "console blk blk rng net";

class Reader {
public:
    explicit Reader(const boost::json::object& object) : object_{object} {}

    void text(const char* key, std::string& into) {
        const boost::json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_string() || value->get_string().size() > kMostOfAText) {
            return miss(key);
        }
        into = value->get_string();
    }
    template <class Number>
    void number(const char* key, Number& into) {
        const boost::json::value* value = object_.if_contains(key);
        if (value == nullptr) return miss(key);
        boost::json::error_code error;
        into = value->to_number<Number>(error);
        if (error) miss(key);
    }

    std::string missing;

private:
    void miss(const char* key) {
        if (missing.empty()) missing = key;
    }
    const boost::json::object& object_;
};

}  // namespace

std::string to_json(const Machine& machine) {
    return boost::json::serialize(boost::json::object{{"format", kFormat},
                                                      {"qemu", machine.qemu},
                                                      {"accelerator", machine.accelerator},
                                                      {"guest", machine.guest},
                                                      {"base", machine.base},
                                                      {"memory_mib", machine.memory_mib},
                                                      {"processors", machine.processors},
                                                      {"disk_bytes", machine.disk_bytes},
                                                      {"disk_inodes", machine.disk_inodes},
                                                      {"tsc_khz", machine.tsc_khz},
                                                      {"serial", machine.serial ? 1 : 0},
                                                      {"devices", kDevices}}) +
           "\n";
}

Result<Machine> machine_from_json(std::string_view json) {
    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(json.substr(0, kMostOfAManifest), error);
    if (error || !value.is_object()) return refuse(Errc::invalid_argument, "the manifest is not JSON");
    Reader reader{value.get_object()};
    Machine machine;
    std::uint64_t format = 0;
    std::uint64_t serial = 0;
    std::string devices;
    reader.number("format", format);
    reader.text("qemu", machine.qemu);
    reader.text("accelerator", machine.accelerator);
    reader.text("guest", machine.guest);
    reader.text("base", machine.base);
    reader.number("memory_mib", machine.memory_mib);
    reader.number("processors", machine.processors);
    reader.number("disk_bytes", machine.disk_bytes);
    reader.number("disk_inodes", machine.disk_inodes);
    reader.number("tsc_khz", machine.tsc_khz);
    reader.number("serial", serial);
    reader.text("devices", devices);
    machine.serial = serial != 0;
    if (!reader.missing.empty()) {
        return refuse(Errc::invalid_argument, "the manifest has no proper " + reader.missing);
    }
    if (format != kFormat) {
        return refuse(Errc::failed_precondition, "the memory was saved in format " + std::to_string(format) +
                                                     ", this server knows " + std::to_string(kFormat));
    }
    if (devices != kDevices) {
        return refuse(Errc::failed_precondition, "the memory was saved with other devices: " + devices);
    }
    return machine;
}

}  // namespace oyat::microvm
