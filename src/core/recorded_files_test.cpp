#include "core/recorded_files.hpp"

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

Task<> round_trip(House& house) {
    const auto sandbox = co_await house.create();
    auto sink = co_await sandbox->files().write("/a\xff", "user", {}, House::somebody());
    co_await sink->write("some ");
    co_await sink->write("text");
    EXPECT_EQ(house.log.count("file.written"), 0u);
    co_await sink->finish();
    const Event* written = house.log.last("file.written");
    EXPECT_EQ(written->fields.at("path").as_string(), "/a\xEF\xBF\xBD");
    EXPECT_EQ(written->fields.at("bytes").to_number<int>(), 9);
    EXPECT_EQ(written->fields.at("user").as_string(), "user");
    EXPECT_EQ(written->fields.at("key").as_string(), "key_1");
    auto source = co_await sandbox->files().read("/a\xff", "user", 0, 0, House::somebody());
    EXPECT_EQ(house.log.last("file.read")->fields.at("bytes").to_number<int>(), 9);
    EXPECT_EQ(co_await source->next(), "some text");
    co_await sandbox->files().move("/a\xff", "/b", "user", House::somebody());
    EXPECT_EQ(house.log.last("file.moved")->fields.at("to").as_string(), "/b");
}
TEST(Files, LeaveAnEventForEachCall) {
    in_house(round_trip);
}

Task<> refusals(House& house) {
    const auto sandbox = co_await house.create();
    Files& files = sandbox->files();
    const Error missing = co_await error_of(files.stat("/none", "user", House::somebody()));
    EXPECT_EQ(missing.code(), Errc::not_found);
    const Event* refused = house.log.last("file.refused");
    EXPECT_EQ(missing.event(), refused->id);
    EXPECT_EQ(refused->fields.at("operation").as_string(), "stat");
    EXPECT_EQ(refused->fault, Fault::client);

    auto sink = co_await files.write("/full", "user", {}, House::somebody());
    const Error full = co_await error_of(sink->write("too much"));
    EXPECT_EQ(full.fault(), Fault::limit);
    EXPECT_EQ(house.log.last("limit.hit")->fields.at("limit").as_string(), "disk");

    EXPECT_EQ((co_await error_of(files.stat(std::string("/a\0b", 4), "user", House::somebody()))).code(),
              Errc::invalid_argument);
    EXPECT_EQ((co_await error_of(files.stat(std::string(5000, 'x'), "user", House::somebody()))).code(),
              Errc::invalid_argument);
}
TEST(Files, SayWhyTheyRefusedAndWhichLimitWasHit) {
    in_house(refusals);
}

}  // namespace
}  // namespace oyat::core
