#include "audit/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "audit/test_files.hpp"
#include "audit/verify.hpp"
#include "io/run.hpp"

namespace oyat::audit {
namespace {

class HandClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return WallTime{now}; }
    [[nodiscard]] MonoTime mono() const override { return MonoTime{now}; }
    std::chrono::seconds now{1'700'000'000};
};

// Opens and drops files as the keeper does; nothing else of it is asked here.
class FileKeeper final : public core::Keeper {
public:
    explicit FileKeeper(const TestFiles& files) : files_{files} {}

    Task<Fd> open_audit(std::string name, std::uint32_t segment) override {
        if (away) throw Error{Errc::unavailable, Fault::engine, "the keeper is away"};
        Fd file = files_.open(name, segment);
        // What is opened for reading alone cannot be written, as on a disk that is full just then.
        if (segment > 1 && std::exchange(spoils_next, false))
            file = Fd{sys(::open(files_.path(name, segment).c_str(), O_RDONLY | O_CLOEXEC), "open")};
        co_return file;
    }
    Task<> drop_audit(std::string name, std::uint32_t segment) override {
        std::filesystem::remove(files_.path(name, segment));
        co_return;
    }
    Task<core::KeeperFacts> info() override { throw std::logic_error{"not asked here"}; }
    Task<core::NewBox> create(core::BoxOrder) override { throw std::logic_error{"not asked here"}; }
    Task<core::NewBox> attach(std::string) override { throw std::logic_error{"not asked here"}; }
    Task<std::vector<core::BoxFacts>> list() override { throw std::logic_error{"not asked here"}; }
    Task<core::BoxUsage> kill(std::string) override { throw std::logic_error{"not asked here"}; }
    Task<> set_frozen(std::string, bool) override { throw std::logic_error{"not asked here"}; }
    Task<core::BrakeFacts> pull_brake(core::BrakeOrder) override { throw std::logic_error{"not asked here"}; }
    Task<core::BrakeFacts> brakes() override { throw std::logic_error{"not asked here"}; }
    Task<std::vector<core::BoxUsage>> usage(std::vector<std::string>) override {
        throw std::logic_error{"not asked"};
    }
    Task<Fd> dial(std::string, std::uint16_t) override { throw std::logic_error{"not asked here"}; }
    Task<packages::Listing> find_packages(std::string) override { throw std::logic_error{"not asked here"}; }
    Task<core::SnapshotFacts> make_snapshot(std::string, bool) override {
        throw std::logic_error{"not asked"};
    }
    Task<std::vector<core::SnapshotFacts>> snapshots() override { throw std::logic_error{"not asked here"}; }
    Task<> remove_snapshot(std::string) override { throw std::logic_error{"not asked here"}; }
    Task<core::BoxUsage> store(std::string, bool) override { throw std::logic_error{"not asked here"}; }
    Task<core::NewBox> wake(std::string) override { throw std::logic_error{"not asked here"}; }
    Task<> reset(std::string, std::string) override { throw std::logic_error{"not asked here"}; }
    Task<std::vector<core::TemplateFacts>> templates() override { throw std::logic_error{"not asked here"}; }
    Task<core::TemplateFacts> import_template(std::string, std::string, Fd) override {
        throw std::logic_error{""};
    }
    Task<core::TemplateFacts> export_template(std::string, Fd) override {
        throw std::logic_error{"not asked here"};
    }
    Task<> remove_template(std::string) override { throw std::logic_error{"not asked here"}; }
    void on_notice(std::function<void(core::KeeperNotice)>) override {}

    bool away = false;
    bool spoils_next = false;

private:
    const TestFiles& files_;
};

core::Event event(std::string type, std::string sandbox = "i1") {
    core::Event e;
    e.type = std::move(type);
    e.sandbox = std::move(sandbox);
    e.tenant = "acme";
    return e;
}

class RecorderTest : public testing::Test {
protected:
    RecorderOptions options() {
        return {.directory = files.directory(),
                .reserve_bytes = 4096,
                .sync_within = Millis{1},
                .seal_after_end = Millis{0}};
    }
    // Runs `use` with an open recorder, and closes it.
    void with_recorder(RecorderOptions chosen, std::function<Task<>(Recorder&)> use) {
        Loop loop;
        Recorder recorder{loop.executor(), clock, keeper, std::move(chosen)};
        loop.run([](Recorder& r, std::function<Task<>(Recorder&)>& body) -> Task<> {
            co_await r.open();
            co_await body(r);
            co_await r.close();
        }(recorder, use));
    }
    std::string text(const std::string& chain, std::uint32_t segment = 1) {
        std::string all;
        for_each_line(files.open(chain, segment).get(), [&](const RawLine& line) {
            all.append(line.text).append("\n");
            return true;
        });
        return all;
    }
    const ChainReport& chain(const Report& report, std::string_view name) {
        return *std::ranges::find(report.chains, name, &ChainReport::chain);
    }
    std::size_t count(const std::string& where, std::string_view what) {
        std::size_t found = 0;
        for (std::size_t at = where.find(what); at != std::string::npos; at = where.find(what, at + 1))
            ++found;
        return found;
    }

    HandClock clock;
    TestFiles files;
    FileKeeper keeper{files};
};

TEST_F(RecorderTest, ASandboxHasItsOwnChainOnceItIsPrepared) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        recorder.append(event("sandbox.requested"));
        co_await recorder.prepare("i1");
        recorder.append(event("sandbox.created"));
    });
    EXPECT_NE(text("server").find("sandbox.requested"), std::string::npos);
    EXPECT_NE(text("i1").find("sandbox.created"), std::string::npos);
    EXPECT_TRUE(verify(files.directory()).sound()) << verify(files.directory()).text();
}

TEST_F(RecorderTest, ALineIsInTheFileWhenAppendReturns) {
    with_recorder(options(), [this](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("command.requested"));
        EXPECT_NE(text("i1").find("command.requested"), std::string::npos);
    });
}

TEST_F(RecorderTest, TheHeadOfAnEndedSandboxIsSealedIntoTheServersChain) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("sandbox.ended"));
    });
    const Report report = verify(files.directory());
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_TRUE(chain(report, "i1").closed);
    std::filesystem::remove(files.path("i1", 1));
    EXPECT_FALSE(verify(files.directory()).sound()) << "a removed log must show";
}

TEST_F(RecorderTest, AnEndThatWasNotSealedIsSealedAfterTheRestart) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("command.exited"));
    });
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.finish("i1");
        co_await recorder.finish("i1");
        co_await recorder.finish("never-had-a-log");
    });
    const Report report = verify(files.directory());
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_TRUE(chain(report, "i1").closed);
    EXPECT_EQ(report.chains.size(), 3u);
}

TEST_F(RecorderTest, GoesOnInTheNextSegmentWhenOneIsFull) {
    RecorderOptions small = options();
    small.segment_lines = 8;
    with_recorder(small, [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        for (int n = 0; n < 40; ++n) {
            recorder.append(event("command.started"));
            co_await sleep_for(Millis{0});
            co_await yield_now();
        }
    });
    const Report report = verify(files.directory());
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_GT(chain(report, "i1").last_segment, 3u);
}

// Otherwise a log would grow in one segment for ever after a disk was full in the wrong moment.
TEST_F(RecorderTest, TriesTheNextSegmentAgainWhenItCouldNotBeBegun) {
    RecorderOptions small = options();
    small.segment_lines = 8;
    keeper.spoils_next = true;
    with_recorder(small, [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        for (int n = 0; n < 20; ++n) {
            recorder.append(event("command.started"));
            for (int turn = 0; turn < 5; ++turn) co_await yield_now();
        }
    });
    const Report report = verify(files.directory());
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_GT(chain(report, "i1").last_segment, 1u);
}

// The keeper has made the file of the next segment, and nothing stands in it yet.
TEST_F(RecorderTest, AChainGoesOnBeforeTheSegmentThatWasOnlyOpenedAhead) {
    RecorderOptions small = options();
    small.segment_lines = 8;
    const auto seven_lines = [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        for (int n = 0; n < 6; ++n) recorder.append(event("command.started"));
        for (int turn = 0; turn < 5; ++turn) co_await yield_now();
    };
    with_recorder(small, seven_lines);
    ASSERT_EQ(std::filesystem::file_size(files.path("i1", 2)), 0u);
    with_recorder(small, seven_lines);
    const Report report = verify(files.directory());
    EXPECT_TRUE(report.sound()) << report.text();
}

TEST_F(RecorderTest, AFloodOfConnectionsIsCountedButRefusalsAreAllKept) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        for (int n = 0; n < 5000; ++n) recorder.append(event("connect.allowed"));
        for (int n = 0; n < 3000; ++n) recorder.append(event("connect.denied"));
        co_await sleep_for(Millis{1100});
    });
    const std::string all = text("i1");
    EXPECT_EQ(count(all, "connect.allowed"), 2000u);
    EXPECT_EQ(count(all, "connect.denied"), 3000u);
    EXPECT_NE(all.find("\"count\":3000"), std::string::npos);
}

TEST_F(RecorderTest, WithoutALogNothingStarts) {
    with_recorder(options(), [this](Recorder& recorder) -> Task<> {
        keeper.away = true;
        Errc code{};
        try {
            co_await recorder.prepare("i1");
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::unavailable);
        recorder.append(event("sandbox.failed"));
    });
    EXPECT_NE(text("server").find("sandbox.failed"), std::string::npos);
}

TEST_F(RecorderTest, WithoutRoomOnTheDiskOnlyEndsAndRefusalsAreWritten) {
    RecorderOptions huge = options();
    huge.reserve_bytes = 1ull << 60;  // more than there is
    with_recorder(huge, [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        EXPECT_THROW(recorder.append(event("command.requested")), Error);
        recorder.append(event("sandbox.ended"));
    });
    const std::string all = text("server-full");
    EXPECT_NE(all.find(R"("refused":"command.requested")"), std::string::npos);
    EXPECT_NE(all.find("sandbox.ended"), std::string::npos);
}

TEST_F(RecorderTest, TheSpaceForTheWorstHourIsHeldAndNotSeenInTheSize) {
    RecorderOptions some = options();
    some.reserve_bytes = 4u << 20;
    with_recorder(some, [this](Recorder&) -> Task<> {
        struct stat facts{};
        EXPECT_EQ(::stat(files.path("server-full", 1).c_str(), &facts), 0);
        EXPECT_GE(facts.st_blocks * 512, 4l << 20);
        EXPECT_LT(facts.st_size, 4096);
        co_return;
    });
}

// Its descriptor would stay open for good otherwise, one for each create that failed.
TEST_F(RecorderTest, TheLogOfASandboxThatCouldNotBeMadeIsClosed) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("sandbox.failed"));
        co_await sleep_for(Millis{20});
        recorder.append(event("command.exited"));
    });
    EXPECT_TRUE(chain(verify(files.directory()), "i1").closed);
    EXPECT_NE(text("server").find("command.exited"), std::string::npos);
}

TEST_F(RecorderTest, OldSegmentsGoAndTheRecordSaysSo) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("sandbox.ended"));
    });
    clock.now += std::chrono::years{60};
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        recorder.keep_house();
        co_await sleep_for(Millis{50});
    });
    EXPECT_FALSE(std::filesystem::exists(files.path("i1", 1)));
    EXPECT_NE(text("server").find("audit.dropped"), std::string::npos);
    EXPECT_TRUE(verify(files.directory()).sound()) << verify(files.directory()).text();
}

// A sandbox may be paused for longer than the record is kept, and its chain must go on afterwards.
TEST_F(RecorderTest, TheLogOfALivingSandboxIsKeptOverARestartHoweverOld) {
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await recorder.prepare("i1");
        recorder.append(event("sandbox.paused"));
    });
    clock.now += std::chrono::years{60};
    with_recorder(options(), [](Recorder& recorder) -> Task<> {
        co_await sleep_for(Millis{20});  // the records of the sandboxes are being read
        co_await recorder.prepare("i1");
        recorder.keep_house();
        co_await sleep_for(Millis{20});
    });
    EXPECT_NE(text("i1").find("sandbox.paused"), std::string::npos);
}

}  // namespace
}  // namespace oyat::audit
