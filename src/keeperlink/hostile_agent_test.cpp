#include <functional>

#include "keeperlink/channel_story.hpp"
#include "keeperlink/hello_finder.hpp"

// What a taken-over agent may try (threats D-20 to D-30).
namespace oyat::keeperlink {
namespace {

using Pair = ChannelPair;
using core::Output;
using wire::ChannelId;
using wire::FrameKind;

// What a taken-over agent says on stream 1 after Started, and the threat that it belongs to.
struct Attack {
    const char* name;
    std::function<void(FakeAgent&)> say;
};

std::string header_of(std::uint32_t length, std::uint8_t kind, std::uint8_t channel = 0,
                      std::uint32_t stream = 1) {
    std::string out(12, '\0');
    for (int i = 0; i < 4; ++i) {
        out[static_cast<std::size_t>(i)] = static_cast<char>(length >> (8 * i));
        out[static_cast<std::size_t>(4 + i)] = static_cast<char>(stream >> (8 * i));
    }
    out[8] = static_cast<char>(kind);
    out[9] = static_cast<char>(channel);
    return out;
}

std::string nested(int depth) {
    std::string inner;
    for (int i = 0; i < depth; ++i) {
        std::string outer;
        wire::put_tagged_bytes(outer, 2, inner);
        inner = std::move(outer);
    }
    return inner;
}

wire::ProcessEvent exit_of(std::int32_t code, std::uint32_t signal) {
    return {.exited = wire::Exited{.exit_code = code, .signal = signal}};
}

const std::vector<Attack>& attacks() {
    static const std::vector<Attack> all{
        {"D-20 length 0", [](FakeAgent& a) { a.output(1, ""); }},
        {"D-20 length 2^32-1", [](FakeAgent& a) { a.raw(header_of(0xFFFF'FFFF, 2, 2)); }},
        {"D-20 data over the cap", [](FakeAgent& a) { a.raw(header_of(wire::kMaxData + 1, 2, 2)); }},
        {"D-20 control over the cap", [](FakeAgent& a) { a.raw(header_of(wire::kMaxControl + 1, 17)); }},
        {"D-21 stream never opened", [](FakeAgent& a) { a.output(9, "x"); }},
        {"D-21 stream closed",
         [](FakeAgent& a) {
             a.exited(1, 0);
             a.output(1, "x");
         }},
        {"D-21 stream zero", [](FakeAgent& a) { a.output(0, "x"); }},
        {"D-22 more than credit",
         [](FakeAgent& a) {
             // Started took some of the window already.
             for (int i = 0; i < 4; ++i) a.output(1, std::string(wire::kMaxData, 'x'));
         }},
        {"D-22 credit for nothing",
         [](FakeAgent& a) { a.say(FrameKind::credit, 1, wire::credit_payload(1)); }},
        {"D-22 credit of zero", [](FakeAgent& a) { a.say(FrameKind::credit, 1, wire::credit_payload(0)); }},
        {"D-23 Started twice", [](FakeAgent& a) { a.started(1, 5); }},
        {"D-23 Exited twice",
         [](FakeAgent& a) {
             a.event(1, exit_of(0, 0));
             a.event(1, exit_of(0, 0));
         }},
        {"D-23 exit 2^31-1", [](FakeAgent& a) { a.event(1, exit_of(0x7FFF'FFFF, 0)); }},
        {"D-23 signal 999", [](FakeAgent& a) { a.event(1, exit_of(0, 999)); }},
        {"D-23 end without Exited", [](FakeAgent& a) { a.end(1); }},
        {"D-23 neither one nor other", [](FakeAgent& a) { a.event(1, wire::ProcessEvent{}); }},
        {"D-23 terminal and pipe",
         [](FakeAgent& a) {
             a.output(1, "x");
             a.output(1, "x", ChannelId::pty);
         }},
        {"D-23 output on stdin", [](FakeAgent& a) { a.output(1, "x", ChannelId::stdin_); }},
        {"D-23 data after EOF",
         [](FakeAgent& a) {
             a.say(FrameKind::eof, 1, {}, ChannelId::stdout_);
             a.output(1, "x");
         }},
        {"D-27 hello again", [](FakeAgent& a) { a.hello(kGeneration); }},
        {"D-27 pong unasked", [](FakeAgent& a) { a.say(FrameKind::pong, 0, "12345678"); }},
        {"D-28 a request", [](FakeAgent& a) { a.say(FrameKind::request, 3, "x"); }},
        {"D-28 a ping", [](FakeAgent& a) { a.say(FrameKind::ping, 0, "12345678"); }},
        {"D-28 a cancel", [](FakeAgent& a) { a.say(FrameKind::cancel, 1, {}); }},
        {"D-28 unknown kind", [](FakeAgent& a) { a.raw(header_of(0, 99)); }},
        {"D-28 reserved bytes",
         [](FakeAgent& a) {
             std::string header = header_of(0, 18);
             header[10] = 1;
             a.raw(header);
         }},
        {"D-30 depth 10,000", [](FakeAgent& a) { a.say(FrameKind::event, 1, nested(10'000)); }},
        {"D-30 garbage", [](FakeAgent& a) { a.say(FrameKind::event, 1, "\xff\xff\xff"); }},
    };
    return all;
}

Task<> attacked(Pair& pair, const Attack& attack) {
    auto process = co_await started(pair);
    pair.agent.output(1, "bait");
    attack.say(pair.agent);
    co_await pair.agent.flushed();
    const std::string why = co_await with_timeout(2s, attack.name, loss_of(pair));
    EXPECT_NE(why.find("broke its protocol"), std::string::npos) << attack.name << ": " << why;
    EXPECT_TRUE(pair.channel->broke_protocol()) << attack.name;
    try {
        // Only what was whole before the attack may still come: a stream that had ended.
        while (const auto event = co_await process->next()) {
        }
        EXPECT_STREQ(attack.name, "D-21 stream closed");
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable) << attack.name;
        EXPECT_EQ(e.fault(), Fault::agent) << attack.name;
    }
    try {
        co_await pair.channel->processes();
        ADD_FAILURE() << attack.name << ": still in use";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable) << attack.name;
    }
}

TEST(HostileAgent, IsHungUpOnAndNothingOfItReachesAClient) {
    for (const Attack& attack : attacks()) {
        Loop loop;
        auto [ours, theirs] = FakeAgent::socket_pair();
        Pair pair{loop.executor(), std::move(ours), std::move(theirs)};
        pair.agent.hello(kGeneration);
        const auto whole = [](Pair& both, const Attack& what) -> Task<> {
            co_await both.channel->hello(1s);
            co_await attacked(both, what);
            co_await both.channel->close();
        };
        loop.run(whole(pair, attack));
    }
}

// What may stand in the place of a HELLO.
TEST(HostileAgent, IsNotListenedToBeforeTheRightHello) {
    const std::vector<std::pair<const char*, wire::Hello>> greetings{
        {"old generation", {.magic = wire::kAgentMagic, .version = 1, .generation = kGeneration - 1}},
        {"no magic", {.magic = 1, .version = 1, .generation = kGeneration}},
        {"later version", {.magic = wire::kAgentMagic, .version = 2, .generation = kGeneration}},
    };
    for (const auto& [name, greeting] : greetings) {
        Loop loop;
        auto [ours, theirs] = FakeAgent::socket_pair();
        Pair pair{loop.executor(), std::move(ours), std::move(theirs)};
        pair.agent.say(FrameKind::hello, 0, wire::encode(greeting));
        EXPECT_THROW(loop.run(pair.channel->hello(1s)), Error) << name;
        EXPECT_TRUE(pair.channel->broke_protocol()) << name;
        loop.run(pair.channel->close());
    }
}

// A program inside can print a HELLO, too; that one does not know our number.
TEST(HostileAgent, ThatSpeaksBeforeItsHelloIsNotListenedTo) {
    Loop loop;
    auto [ours, theirs] = FakeAgent::socket_pair();
    Pair pair{loop.executor(), std::move(ours), std::move(theirs)};
    pair.agent.end(1);
    pair.agent.hello(kGeneration);
    EXPECT_THROW(loop.run(pair.channel->hello(50ms)), Error);
    EXPECT_FALSE(pair.channel->broke_protocol());
    loop.run(pair.channel->close());
}

TEST(HostileAgent, ThatSpeaksWithoutEndBeforeItsHelloIsHungUpOn) {
    Loop loop;
    auto [ours, theirs] = FakeAgent::socket_pair();
    Pair pair{loop.executor(), std::move(ours), std::move(theirs)};
    pair.agent.raw(std::string(HelloFinder::kMostSkipped + 100, 'x'));
    const auto both = [](Pair& each) -> Task<> {
        co_await race(each.channel->hello(5s), each.agent.flushed());
        while (each.lost.empty()) co_await yield_now();
    };
    loop.run(with_timeout(5s, "the end", both(pair)));
    EXPECT_TRUE(pair.channel->broke_protocol());
    loop.run(pair.channel->close());
}

TEST(HostileAgent, ThatNeverSaysHelloIsNotWaitedForLong) {
    Loop loop;
    auto [ours, theirs] = FakeAgent::socket_pair();
    Pair pair{loop.executor(), std::move(ours), std::move(theirs)};
    pair.agent.raw("\x01");  // one byte, and silence
    try {
        loop.run(pair.channel->hello(20ms));
        ADD_FAILURE() << "greeted";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::deadline);
    }
    loop.run(pair.channel->close());
}

Task<> tiny_frames(Pair& pair) {
    auto process = co_await started(pair);
    std::string frames;
    for (int i = 0; i < 1000; ++i) wire::append_frame(frames, FrameKind::data, 1, ChannelId::stdout_, "x");
    for (int i = 0; i < 10; ++i) {
        pair.agent.raw(frames);
        std::string got;
        while (got.size() < 1000) got += std::get<Output>((co_await process->next()).value()).bytes;
        EXPECT_EQ(got, std::string(1000, 'x'));
    }
}
TEST(HostileAgent, OfTinyFramesIsReadInLargePieces) {
    run_story(tiny_frames);
}

Task<> absurd_claims(Pair& pair) {
    std::optional<core::FileEntry> entry;
    const auto agent = [](FakeAgent& from) -> Task<> {
        const auto [stream, request] = co_await from.request();
        from.event(stream, wire::FileEntries{.entries = {{.path = std::string("a\0../\n\x1b[2J", 10),
                                                          .type = static_cast<wire::FileType>(77),
                                                          .size = 1ull << 63,
                                                          .mtime_ns = INT64_MIN}}});
        from.end(stream);
        co_await sleep_for(1h);
    };
    co_await race(store_in(entry, pair.channel->stat("/a", "user")), agent(pair.agent));
    EXPECT_EQ(entry->type, core::FileType::unknown);
    EXPECT_EQ(entry->size, 1ull << 63);
    EXPECT_EQ(pair.lost, "");
}
TEST(HostileAgent, MayClaimAbsurdFilesButNoneOutOfBounds) {
    run_story(absurd_claims);
}

Task<> endless_listing(Pair& pair) {
    wire::FileEntries some;
    for (int i = 0; i < 256; ++i) some.entries.push_back({.path = "a"});
    const std::string event = wire::encode(some);
    std::optional<std::unique_ptr<core::DirListing>> listing;
    std::size_t listed = 0;
    const auto agent = [](FakeAgent& from, std::string payload) -> Task<> {
        const auto [stream, request] = co_await from.request();
        std::uint64_t credit = wire::kInitialWindow;
        while (true) {
            for (; credit >= payload.size(); credit -= payload.size())
                from.say(FrameKind::event, stream, payload);
            const wire::Frame frame = co_await from.next();
            if (frame.header.kind == FrameKind::credit) credit += or_throw(wire::parse_credit(frame.payload));
        }
    };
    const auto reader = [](Pair& both, std::size_t& count) -> Task<> {
        auto source = co_await both.channel->list("/", "user", 9);
        while (true) {
            const std::size_t more = (co_await source->next()).size();
            if (more == 0) break;
            count += more;
        }
    };
    co_await race(reader(pair, listed), agent(pair.agent, event));
    EXPECT_GE(listed, 1'000'000u);
    EXPECT_LE(listed, 1'000'256u);
}
TEST(HostileAgent, CannotListForEver) {
    run_story(endless_listing);
}

}  // namespace
}  // namespace oyat::keeperlink
