#include "keeperlink/channel_story.hpp"

namespace oyat::keeperlink {
namespace {

using Pair = ChannelPair;
using core::ExitReport;
using core::Output;
using wire::ChannelId;
using wire::FrameKind;

Task<> whole_command(Pair& pair) {
    auto process = co_await started(pair);
    EXPECT_EQ(process->pid(), 42u);
    pair.agent.output(1, "hel");
    pair.agent.output(1, "lo");
    pair.agent.output(1, "oops", ChannelId::stderr_);
    pair.agent.exited(1, 3);
    const auto out = std::get<Output>((co_await process->next()).value());
    EXPECT_EQ(out.bytes, "hello");
    const auto err = std::get<Output>((co_await process->next()).value());
    EXPECT_EQ(err.channel, core::OutputChannel::err);
    EXPECT_EQ(err.bytes, "oops");
    const auto exit = std::get<ExitReport>((co_await process->next()).value());
    EXPECT_EQ(exit.exit_code, 3);
    EXPECT_FALSE(co_await process->next());
}
TEST(AgentChannel, RunsACommandFromSpawnToExit) {
    run_story(whole_command);
}

// Sums the credit that comes until `frames` credit frames were seen.
Task<std::size_t> credits(FakeAgent& agent, int frames) {
    std::size_t sum = 0;
    while (frames > 0) {
        const wire::Frame frame = co_await agent.next();
        if (frame.header.kind != FrameKind::credit) continue;
        sum += or_throw(wire::parse_credit(frame.payload));
        --frames;
    }
    co_return sum;
}

Task<> acknowledgement(Pair& pair) {
    auto process = co_await started(pair);
    const std::size_t started_size =
        wire::encode(wire::ProcessEvent{.started = wire::Started{.pid = 42, .started_ms = 1}}).size();
    // The credit comes when all has been read and more is asked for, and only then the agent goes on.
    const auto output = [](FakeAgent& agent, std::size_t expected) -> Task<> {
        EXPECT_EQ(co_await credits(agent, 1), expected);
        agent.output(1, "12345");
        co_await sleep_for(1h);
    };
    const auto exit = [](FakeAgent& agent, std::size_t expected) -> Task<> {
        EXPECT_EQ(co_await credits(agent, 1), expected);
        agent.exited(1, 1);
        co_await sleep_for(1h);
    };
    std::optional<std::optional<std::variant<Output, ExitReport>>> item;
    co_await race(store_in(item, process->next()), output(pair.agent, started_size));
    co_await race(store_in(item, process->next()), exit(pair.agent, 5));
    EXPECT_FALSE(co_await process->next());
    process.reset();  // the end is noted: the agent may forget the process
    const std::size_t exited_size =
        wire::encode(wire::ProcessEvent{.exited = wire::Exited{.exit_code = 1}}).size();
    EXPECT_EQ(co_await credits(pair.agent, 1), exited_size);
}
TEST(AgentChannel, AcknowledgesOnlyWhatWasAskedBeyond) {
    run_story(acknowledgement);
}

// All credit until the host hangs up.
Task<std::size_t> all_credit(FakeAgent& agent) {
    std::size_t sum = 0;
    while (true) {
        const wire::Frame frame = co_await agent.next();
        if (frame.header.kind == FrameKind::hello) co_return sum;
        if (frame.header.kind == FrameKind::credit) sum += or_throw(wire::parse_credit(frame.payload));
    }
}

// Otherwise the next oyatd would be given what this one has recorded already.
Task<> acknowledged_at_close(Pair& pair) {
    auto process = co_await started(pair);
    pair.agent.output(1, "12345");
    pair.agent.exited(1, 1);
    while (co_await process->next()) {
    }
    process.reset();
    co_await pair.channel->close();
    const std::size_t events =
        wire::encode(wire::ProcessEvent{.started = wire::Started{.pid = 42, .started_ms = 1}}).size() +
        wire::encode(wire::ProcessEvent{.exited = wire::Exited{.exit_code = 1}}).size();
    EXPECT_EQ(co_await all_credit(pair.agent), events + 5);
}
TEST(AgentChannel, AcknowledgesEverythingBeforeItIsClosed) {
    run_story(acknowledged_at_close);
}

// The agent gives it once more when it is joined again, and that must be known.
Task<> lost_with_credit(Pair& pair) {
    auto process = co_await started(pair);
    pair.agent.output(1, "12345");
    EXPECT_TRUE(co_await process->next());
    EXPECT_EQ(process->unacknowledged().out, 5u);
    try {
        const auto hang_up = [](FakeAgent& agent) -> Task<> {
            agent.hang_up();
            co_await sleep_for(1h);
        };
        std::optional<std::optional<std::variant<Output, ExitReport>>> item;
        co_await race(store_in(item, process->next()), hang_up(pair.agent));
        ADD_FAILURE() << "an event from nowhere";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
    }
    EXPECT_EQ(process->unacknowledged().out, 5u) << "its credit was not sent any more";
}
TEST(AgentChannel, KnowsWhatIsUnacknowledgedWhenTheAgentIsLostBeforeTheCredit) {
    run_story(lost_with_credit);
}

Task<> refused_spawn(Pair& pair) {
    const auto answer = [](FakeAgent& agent) -> Task<> {
        const auto [stream, request] = co_await agent.request();
        agent.end(stream, {.code = static_cast<std::uint32_t>(Errc::unavailable) + 1,
                           .message = "fork: Resource temporarily unavailable",
                           .err = EAGAIN});
        co_await sleep_for(1h);
    };
    std::optional<std::unique_ptr<core::AgentProcess>> none;
    try {
        co_await race(store_in(none, pair.channel->spawn(order_of({"x"}))), answer(pair.agent));
        ADD_FAILURE() << "spawned";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::exhausted);
        EXPECT_EQ(e.fault(), Fault::limit);
    }
    EXPECT_EQ(pair.lost, "");
}
TEST(AgentChannel, TellsAProcessLimitFromOtherRefusals) {
    run_story(refused_spawn);
}

Task<> dropped_process(Pair& pair) {
    auto process = co_await started(pair);
    process.reset();
    wire::Frame frame;
    do frame = co_await pair.agent.next();
    while (frame.header.kind == FrameKind::credit);
    EXPECT_EQ(frame.header.kind, FrameKind::cancel);
    pair.agent.output(1, "still on its way");  // allowed until the agent has ended the stream
    pair.agent.end(1, {.code = 9, .message = "canceled"});
    auto next = co_await started(pair, 43);
    EXPECT_EQ(next->pid(), 43u);
    EXPECT_EQ(pair.lost, "");
}
TEST(AgentChannel, CancelsAStreamThatNobodyHolds) {
    run_story(dropped_process);
}

Task<> input_waits(Pair& pair) {
    auto process = co_await started(pair);
    bool written = false;
    const auto write = [](core::AgentProcess& to, bool& done) -> Task<> {
        co_await to.write_input(std::string(300 * 1024, 'x'));
        done = true;
    };
    const auto agent = [](FakeAgent& from, bool& done) -> Task<> {
        std::size_t got = 0;
        while (got < wire::kInitialWindow) {
            const wire::Frame frame = co_await from.next();
            if (frame.header.kind == FrameKind::data) got += frame.payload.size();
        }
        EXPECT_FALSE(done);
        EXPECT_EQ(got, wire::kInitialWindow);
        from.say(FrameKind::credit, 1, wire::credit_payload(64 * 1024));
        while (!done) co_await yield_now();
    };
    co_await race(write(*process, written), agent(pair.agent, written));
    EXPECT_TRUE(written);
}
TEST(AgentChannel, HoldsInputBackWithoutCredit) {
    run_story(input_waits);
}

Task<> file_read(Pair& pair) {
    std::optional<std::unique_ptr<core::FileSource>> opened;
    const auto agent = [](FakeAgent& from) -> Task<> {
        const auto [stream, request] = co_await from.request();
        EXPECT_EQ(request.read_file.value().path, "/a");
        from.event(stream,
                   wire::FileEntries{.entries = {{.path = "/a", .type = wire::FileType::file, .size = 7}}});
        from.output(stream, "content", ChannelId::file);
        from.say(FrameKind::eof, stream, {}, ChannelId::file);
        from.end(stream);
        co_await sleep_for(1h);
    };
    co_await race(store_in(opened, pair.channel->read("/a", "user", 0, 0)), agent(pair.agent));
    core::FileSource& source = **opened;
    EXPECT_EQ(source.entry().size, 7u);
    EXPECT_EQ(co_await source.next(), "content");
    EXPECT_EQ(co_await source.next(), "");
}
TEST(AgentChannel, ReadsAFile) {
    run_story(file_read);
}

Task<> full_disk(Pair& pair) {
    auto sink = co_await pair.channel->write("/a", "user", {});
    const auto agent = [](FakeAgent& from) -> Task<> {
        const auto [stream, request] = co_await from.request();
        from.end(stream, {.code = static_cast<std::uint32_t>(Errc::exhausted) + 1,
                          .message = "write: disk limit reached",
                          .err = ENOSPC});
        co_await sleep_for(1h);
    };
    const auto write = [](core::FileSink& into) -> Task<> {
        while (true) {
            co_await into.write(std::string(1000, 'x'));
            co_await yield_now();
        }
    };
    try {
        co_await race(write(*sink), agent(pair.agent));
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::exhausted);
        EXPECT_EQ(e.fault(), Fault::limit);
    }
}
TEST(AgentChannel, SaysWhyAWriteEndedEarly) {
    run_story(full_disk);
}

Task<> watching(Pair& pair) {
    std::optional<std::unique_ptr<core::FileWatch>> opened;
    const auto agent = [](FakeAgent& from) -> Task<> {
        const auto [stream, request] = co_await from.request();
        from.event(stream, wire::WatchEvents{.ready = true});
        from.event(stream,
                   wire::WatchEvents{.changes = {{.kind = wire::WatchKind::create, .name = "n\n\xff"}}});
        co_await sleep_for(1h);
    };
    co_await race(store_in(opened, pair.channel->watch("/a", "user", false, false, false)),
                  agent(pair.agent));
    const auto changes = co_await (*opened)->next();
    EXPECT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.at(0).name, "n\n\xff");
    pair.agent.hang_up();
    try {
        co_await (*opened)->next();
        ADD_FAILURE() << "a change from nowhere";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
        EXPECT_EQ(e.fault(), Fault::agent);
    }
}
TEST(AgentChannel, WatchesUntilTheSandboxEnds) {
    run_story(watching);
}

Task<> loss(Pair& pair) {
    auto process = co_await started(pair);
    pair.agent.output(1, "last words");
    pair.agent.hang_up();
    EXPECT_NE((co_await loss_of(pair)).find("closed"), std::string::npos);
    EXPECT_FALSE(pair.channel->broke_protocol());
    EXPECT_EQ(std::get<Output>((co_await process->next()).value()).bytes, "last words");
    try {
        co_await process->next();
        ADD_FAILURE() << "an event from nowhere";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
    }
}
TEST(AgentChannel, GivesWhatCameBeforeTheAgentWentAway) {
    run_story(loss);
}

Task<> many_streams(Pair& pair) {
    std::vector<std::unique_ptr<core::FileSink>> sinks;
    for (int i = 0; i < 1024; ++i) sinks.push_back(co_await pair.channel->write("/a", "user", {}));
    try {
        co_await pair.channel->write("/a", "user", {});
        ADD_FAILURE() << "more than the bound";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::exhausted);
        EXPECT_EQ(e.fault(), Fault::limit);
    }
}
TEST(AgentChannel, BoundsHowManyStreamsAreOpen) {
    run_story(many_streams);
}

}  // namespace
}  // namespace oyat::keeperlink
