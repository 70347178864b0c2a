#include "core/snapshot_record.hpp"

#include "core/json_text.hpp"
#include "core/limits_json.hpp"
#include "core/record_reader.hpp"
#include "core/snapshot_name.hpp"

namespace oyat::core {

boost::json::object to_json(const SnapshotRecord& record) {
    return {{"id", record.id},
            {"tenant", record.tenant},
            {"name", record.name},
            {"tag", record.tag},
            {"sandbox", record.sandbox},
            {"template_name", json_text(record.template_name)},
            {"template_digest", record.template_digest},
            {"engine", record.engine},
            {"policy", json_text(record.policy)},
            {"memory", record.memory},
            {"limits", limits_json(record.limits)},
            {"disk_bytes", record.disk_bytes},
            {"memory_bytes", record.memory_bytes},
            {"stood_still", record.stood_still.count()},
            {"created", unix_millis(record.created)},
            {"used", unix_millis(record.used)},
            {"kept", record.kept.count()},
            {"warned", record.warned},
            {"key_id", record.key_id},
            {"client", json_text(record.client)},
            {"protocol", record.protocol}};
}

Result<SnapshotRecord> snapshot_record_from_json(const boost::json::object& from) {
    SnapshotRecord record;
    RecordReader read{from};
    std::int64_t stood_still = 0, kept = 0;
    read.text("id", record.id);
    read.text("tenant", record.tenant);
    read.text("name", record.name);
    read.text("tag", record.tag);
    read.text("sandbox", record.sandbox);
    read.text("template_name", record.template_name);
    read.text("template_digest", record.template_digest);
    read.text("engine", record.engine);
    read.text("policy", record.policy);
    read.flag("memory", record.memory);
    read.limits("limits", record.limits);
    read.number("disk_bytes", record.disk_bytes);
    read.number("memory_bytes", record.memory_bytes);
    read.number("stood_still", stood_still);
    read.time("created", record.created);
    read.time("used", record.used);
    read.number("kept", kept);
    read.flag("warned", record.warned);
    read.text("key_id", record.key_id);
    read.text("client", record.client);
    read.text("protocol", record.protocol);
    record.stood_still = Millis{stood_still};
    record.kept = Millis{kept};
    if (!is_snapshot_id(record.id)) read.wrong("id");
    if (kept < 0) read.wrong("kept");
    if (!read.problem().empty()) return refuse(Errc::invalid_argument, "snapshot record: " + read.problem());
    return record;
}

}  // namespace oyat::core
