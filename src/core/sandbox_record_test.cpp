#include "core/sandbox_record.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/id.hpp"
#include "base/json_escape.hpp"
#include "base/throwing.hpp"

namespace oyat::core {
namespace {

SandboxRecord full_record() {
    SandboxRecord record;
    record.id = new_sandbox_id();
    record.tenant = "default";
    record.template_name = "base";
    record.template_digest = "sha256:" + std::string(64, 'a');
    record.engine = "jail";
    record.boundary = "shared-kernel";
    record.generation = 0xFFFF'FFFF'FFFF'FFFFull;
    record.limits = kDefaultLimits;
    record.metadata = {{"job", "42"}, {"name", "b c&d"}};
    record.env = {{"TOKEN", "x\ny"}};
    record.internet = false;
    record.policy = R"({"preset":"offline"})";
    record.on_timeout = OnTimeout::pause;
    record.auto_resume = true;
    record.access_token = "tok";
    record.created = record.started = from_unix_millis(1'796'000'000'123);
    record.end_at = from_unix_millis(1'796'000'300'123);
    record.timeout = Millis{300'000};
    record.state = SandboxState::ended;
    record.ended_by = EndedBy::oom;
    record.ended_detail = "process node (pid 212) was killed: memory limit 2 GiB";
    record.phases = {{"image", 120}, {"ready", 900}};
    record.created_event = "ev_1";
    return record;
}

TEST(SandboxRecord, ComesBackFromItsTextAsItWas) {
    const SandboxRecord record = full_record();
    const std::string text = boost::json::serialize(to_json(record));
    const auto back = or_throw(sandbox_record_from_json(boost::json::parse(text).as_object()));
    EXPECT_EQ(boost::json::serialize(to_json(back)), text);
    EXPECT_EQ(back.generation, record.generation);
    EXPECT_EQ(back.limits, record.limits);
    EXPECT_EQ(back.env, record.env);
    EXPECT_EQ(back.state, SandboxState::ended);
    EXPECT_EQ(back.ended_by, EndedBy::oom);
    EXPECT_EQ(back.end_at, record.end_at);
}

TEST(SandboxRecord, KeepsDefaultsForWhatAnOlderVersionDidNotWrite) {
    boost::json::object json{{"id", new_sandbox_id()}, {"state", "running"}};
    const auto record = or_throw(sandbox_record_from_json(json));
    EXPECT_TRUE(record.secure);
    EXPECT_EQ(record.ended_by, EndedBy::none);
}

TEST(SandboxRecord, RefusesADamagedOneByName) {
    for (const char* member :
         {R"("id":"../x")", R"("state":"flying")", R"("limits":7)", R"("limits":{"processes":-1})",
          R"("env":{"A":1})", R"("created":-5)", R"("phases":[1])", R"("secure":"yes")"}) {
        auto json = boost::json::parse("{" + std::string{member} + "}").as_object();
        if (!json.contains("id")) json["id"] = new_sandbox_id();
        EXPECT_FALSE(sandbox_record_from_json(json)) << member;
    }
}

TEST(SandboxRecord, IsValidJsonWhateverAProcessCalledItself) {
    SandboxRecord record = full_record();
    record.ended_detail = "process \xff\xfe\n (pid 3)";
    EXPECT_TRUE(is_utf8(boost::json::serialize(to_json(record))));
}

}  // namespace
}  // namespace oyat::core
