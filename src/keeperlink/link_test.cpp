#include "keeperlink/link.hpp"

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "keeperlink/fake_agent.hpp"
#include "keeperlink/open_stream.hpp"

namespace oyat::keeperlink {
namespace {

using wire::FrameKind;

std::string pong_of(std::uint64_t number) {
    std::string frame;
    wire::append_frame(frame, FrameKind::pong, 0, wire::ChannelId::none,
                       std::string{static_cast<char>(number)} + std::string(7, '\0'));
    return frame;
}

// A link whose time is told by hand, and its agent.
struct Scene {
    explicit Scene(Executor executor, std::pair<Fd, Fd> ends = FakeAgent::socket_pair())
        : link{std::make_shared<Link>(executor, std::move(ends.first), 7,
                                      std::make_shared<std::string>(4096, '\0'))},
          agent{executor, std::move(ends.second)} {
        std::string hello;
        wire::append_frame(
            hello, FrameKind::hello, 0, wire::ChannelId::none,
            wire::encode(wire::Hello{.magic = wire::kAgentMagic, .version = 1, .generation = 7}));
        link->take(hello);
    }
    ~Scene() { link->lose("the test is over"); }
    void ticks(int count) {
        for (int i = 0; i < count; ++i) link->tick();
    }
    std::shared_ptr<Link> link;
    FakeAgent agent;
};

TEST(Link, LosesAnAgentThatIsSilentForTenSeconds) {
    Loop loop;
    Scene scene{loop.executor()};
    scene.ticks(2);
    EXPECT_FALSE(scene.link->over());
    scene.ticks(1);
    EXPECT_TRUE(scene.link->over());
    EXPECT_FALSE(scene.link->broke_protocol());
}

TEST(Link, KeepsAnAgentThatAnswersItsPings) {
    Loop loop;
    Scene scene{loop.executor()};
    for (std::uint64_t i = 1; i < 10; ++i) {
        scene.ticks(2);
        scene.link->take(pong_of(i));
    }
    EXPECT_FALSE(scene.link->over());
}

TEST(Link, DoesNotCountTheSilenceOfTheFrozen) {
    Loop loop;
    Scene scene{loop.executor()};
    scene.ticks(2);
    scene.link->set_frozen(true);
    scene.ticks(100);
    EXPECT_FALSE(scene.link->over());
    scene.link->set_frozen(false);
    scene.ticks(1);
    EXPECT_FALSE(scene.link->over());  // the ping from before has its time again
    scene.ticks(1);
    EXPECT_TRUE(scene.link->over());
}

Task<> unanswered(std::shared_ptr<Link> link) {
    OpenStream stream{link, StreamKind::call, {.stat = wire::Stat{.path = "/a"}}};
    for (std::uint64_t i = 1; i <= 12; ++i) {
        EXPECT_FALSE(stream.ready());
        link->tick();
        link->take(pong_of(i));
    }
    try {
        co_await stream.next();
        ADD_FAILURE() << "an answer from nowhere";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::deadline);
        EXPECT_EQ(e.fault(), Fault::agent);
    }
    EXPECT_FALSE(link->over());  // one call is no proof against the agent
}

TEST(Link, GivesUpACallThatIsNotAnswered) {
    Loop loop;
    Scene scene{loop.executor()};
    loop.run(unanswered(scene.link));
}

Task<> first_word(std::shared_ptr<Link> link) {
    OpenStream stream{link, StreamKind::process, {.spawn = wire::Spawn{.argv = {"x"}}}};
    std::string frame;
    wire::append_frame(frame, FrameKind::event, 1, wire::ChannelId::none,
                       wire::encode(wire::ProcessEvent{.started = wire::Started{.pid = 2}}));
    link->take(frame);
    for (std::uint64_t i = 1; i <= 100; ++i) {
        link->tick();
        link->take(pong_of(i));
    }
    EXPECT_TRUE((co_await stream.next()).has_value());
    EXPECT_FALSE(stream.ended());  // a program may say nothing for days
}

TEST(Link, WaitsForAProgramAsLongAsItRuns) {
    Loop loop;
    Scene scene{loop.executor()};
    loop.run(first_word(scene.link));
}

}  // namespace
}  // namespace oyat::keeperlink
