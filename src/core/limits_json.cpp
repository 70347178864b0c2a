#include "core/limits_json.hpp"

namespace oyat::core {

boost::json::object limits_json(const Limits& limits) {
    return {{"memory_bytes", limits.memory_bytes}, {"cpu_millis", limits.cpu_millis},
            {"processes", limits.processes},       {"disk_bytes", limits.disk_bytes},
            {"disk_inodes", limits.disk_inodes},   {"io_bytes_per_second", limits.io_bytes_per_second},
            {"open_files", limits.open_files}};
}

}  // namespace oyat::core
