#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/throwing.hpp"
#include "io/async_fd.hpp"
#include "io/loop.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"
#include "keeperlink/connect_keeper.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeperlink {
namespace {

using namespace std::chrono_literals;

// The other end of a keeper's socket, which says what the test tells it.
class FakeKeeper {
public:
    explicit FakeKeeper(Executor executor) : executor_{std::move(executor)} {
        char name[] = "/tmp/oyat-keeperlink-XXXXXX";
        directory_ = ::mkdtemp(name);
        listen();
    }
    ~FakeKeeper() { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string path() const { return directory_ + "/keeper.sock"; }

    void listen() {
        ::unlink(path().c_str());
        Fd socket{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
        sys(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
        sys(::listen(socket.get(), 8), "listen");
        listener_ = std::make_unique<AsyncFd>(executor_, std::move(socket));
    }
    void die() {
        listener_.reset();
        connection_.reset();
    }
    Task<> accept() {
        co_await listener_->readable();
        Fd socket{sys(::accept4(listener_->get(), nullptr, nullptr, SOCK_CLOEXEC), "accept")};
        connection_ = std::make_unique<AsyncFd>(executor_, std::move(socket));
    }
    Task<wire::KeeperRequest> request() {
        std::string bytes(wire::kMaxKeeperPacket, '\0');
        co_await connection_->readable();
        bytes.resize(
            static_cast<std::size_t>(sys(::recv(connection_->get(), bytes.data(), bytes.size(), 0), "recv")));
        if (bytes.empty()) throw Error{Errc::unavailable, "the client hung up"};
        co_return or_throw(wire::decode<wire::KeeperRequest>(bytes));
    }
    void reply(const wire::KeeperReply& reply, const std::vector<int>& fds = {}) {
        const std::string bytes = wire::encode(reply);
        alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
        iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!fds.empty()) {
            message.msg_control = control;
            message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
            cmsghdr* const rights = CMSG_FIRSTHDR(&message);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
        }
        sys(::sendmsg(connection_->get(), &message, MSG_NOSIGNAL), "sendmsg");
    }

private:
    Executor executor_;
    std::string directory_;
    std::unique_ptr<AsyncFd> listener_;
    std::unique_ptr<AsyncFd> connection_;
};

struct Pair {
    explicit Pair(Executor executor) : fake{executor}, keeper{connect_keeper(executor, fake.path())} {
        keeper->on_notice([this](core::KeeperNotice notice) { notices.push_back(std::move(notice)); });
    }
    FakeKeeper fake;
    std::unique_ptr<core::Keeper> keeper;
    std::vector<core::KeeperNotice> notices;
};

void run_story(Task<> (*story)(Pair&)) {
    Loop loop;
    Pair pair{loop.executor()};
    const auto whole = [](Pair& both, Task<> (*tell)(Pair&)) -> Task<> {
        co_await both.fake.accept();
        co_await with_timeout(10s, "the story", tell(both));
    };
    loop.run(whole(pair, story));
}

// Runs a call of the client while the fake answers it.
template <class T>
Task<T> called(Task<T> call, Task<> answer) {
    std::optional<T> value;
    const auto both = [](Task<> first) -> Task<> {
        co_await std::move(first);
        co_await sleep_for(1h);
    };
    co_await race(store_in(value, std::move(call)), both(std::move(answer)));
    co_return *std::move(value);
}

wire::KeeperReply box_reply(std::uint64_t id) {
    wire::KeeperReply reply{.id = id};
    reply.created =
        wire::BoxCreated{.box = {.id = "iaaaaaaaaaaaaaaaaaaaa", .generation = 5, .engine = "jail"},
                         .phases = {{.name = "image", .micros = 12}}};
    return reply;
}

Task<> create(Pair& pair) {
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        const auto request = co_await fake.request();
        EXPECT_EQ(request.create.value().owner_tag, "tag");
        EXPECT_TRUE(request.create->never_pool);
        fake.reply(box_reply(request.id), {0, 1, 2, 0, 1, 2});
    };
    core::BoxOrder order;
    order.owner_tag = "tag";
    order.pool = core::BoxOrder::Pool::never;
    const core::NewBox box = co_await called(pair.keeper->create(std::move(order)), answer(pair.fake));
    EXPECT_EQ(box.facts.generation, 5u);
    EXPECT_EQ(box.phases.at(0).name, "image");
    for (const Fd* fd : {&box.handles.agent, &box.handles.pidfd, &box.handles.tcp, &box.handles.dns_udp,
                         &box.handles.dns_tcp}) {
        EXPECT_GT(fd->get(), 2);
        EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
    }
    // Its first record came along: the keeper is asked for others only.
    EXPECT_GT((co_await pair.keeper->open_audit(box.facts.id, 1)).get(), 2);
    const auto opened = [](FakeKeeper& fake) -> Task<> {
        const auto request = co_await fake.request();
        EXPECT_EQ(request.open_audit.value().segment, 1u);
        fake.reply({.id = request.id}, {0});
    };
    (void)co_await called(pair.keeper->open_audit(box.facts.id, 1), opened(pair.fake));
}
TEST(KeeperClient, TakesABoxWithItsDescriptors) {
    run_story(create);
}

Task<> too_few(Pair& pair) {
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        fake.reply(box_reply((co_await fake.request()).id), {0, 1});
    };
    try {
        co_await called(pair.keeper->create({}), answer(pair.fake));
        ADD_FAILURE() << "took half a box";
    } catch (const Error& e) {
        EXPECT_EQ(e.fault(), Fault::engine);
    }
}
TEST(KeeperClient, RefusesABoxThatLacksDescriptors) {
    run_story(too_few);
}

Task<> crossed(Pair& pair) {
    std::optional<core::BoxUsage> first;
    std::optional<core::BoxUsage> second;
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        const auto a = co_await fake.request();
        const auto b = co_await fake.request();
        for (const auto* each : {&b, &a}) {
            wire::KeeperReply reply{.id = each->id};
            reply.stats.emplace().stats.push_back({.id = each->kill.value().id});
            fake.reply(reply);
        }
        co_await sleep_for(1h);
    };
    const auto one = [](core::Keeper& keeper, std::string id, std::optional<core::BoxUsage>& into) -> Task<> {
        into = co_await keeper.kill(std::move(id));
        co_await sleep_for(1h);
    };
    const auto done = [](std::optional<core::BoxUsage>& a, std::optional<core::BoxUsage>& b) -> Task<> {
        while (!a || !b) co_await yield_now();
    };
    co_await race(one(*pair.keeper, "a", first), one(*pair.keeper, "b", second), answer(pair.fake),
                  done(first, second));
    EXPECT_EQ(first->id, "a");
    EXPECT_EQ(second->id, "b");
}
TEST(KeeperClient, MatchesAnswersThatComeInAnotherOrder) {
    run_story(crossed);
}

Task<> refusal(Pair& pair) {
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        wire::KeeperReply reply{.id = (co_await fake.request()).id};
        reply.code = static_cast<std::uint32_t>(Errc::unavailable) + 1;
        reply.fault = static_cast<std::uint32_t>(Fault::command) + 1;
        reply.message = "nothing listens on port 80";
        fake.reply(reply);
    };
    try {
        co_await called(pair.keeper->dial("i", 80), answer(pair.fake));
        ADD_FAILURE() << "dialed";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
        EXPECT_EQ(e.fault(), Fault::command);
        EXPECT_EQ(e.message(), "nothing listens on port 80");
    }
}
TEST(KeeperClient, PassesOnWhatTheKeeperRefuses) {
    run_story(refusal);
}

Task<> paged(Pair& pair) {
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        const auto first = co_await fake.request();
        EXPECT_EQ(first.list.value().after, "");
        wire::KeeperReply reply{.id = first.id};
        reply.boxes = wire::BoxList{.boxes = {{.id = "a"}, {.id = "b"}}, .more = true};
        fake.reply(reply);
        const auto second = co_await fake.request();
        EXPECT_EQ(second.list.value().after, "b");
        reply = wire::KeeperReply{.id = second.id};
        reply.boxes = wire::BoxList{.boxes = {{.id = "c"}}};
        fake.reply(reply);
    };
    const auto boxes = co_await called(pair.keeper->list(), answer(pair.fake));
    EXPECT_EQ(boxes.size(), 3u);
    EXPECT_EQ(boxes.back().id, "c");
}
TEST(KeeperClient, ReadsAListOfAnyLength) {
    run_story(paged);
}

Task<> notices(Pair& pair) {
    wire::KeeperReply reply;
    reply.event = wire::KeeperEvent{.kind = wire::EventKind::oom, .id = "i", .process = "node", .pid = 212};
    pair.fake.reply(reply);
    while (pair.notices.empty()) co_await yield_now();
    EXPECT_EQ(pair.notices[0].kind, core::KeeperNotice::Kind::oom);
    EXPECT_EQ(pair.notices[0].process, "node");
    EXPECT_EQ(pair.notices[0].pid, 212u);
}
TEST(KeeperClient, PassesNoticesOn) {
    run_story(notices);
}

Task<> restart(Pair& pair) {
    const auto die = [](FakeKeeper& fake) -> Task<> {
        co_await fake.request();
        fake.die();
    };
    try {
        co_await called(pair.keeper->info(), die(pair.fake));
        ADD_FAILURE() << "answered by nobody";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
        EXPECT_EQ(e.fault(), Fault::engine);
    }
    pair.fake.listen();
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        co_await fake.accept();
        wire::KeeperReply reply{.id = (co_await fake.request()).id};
        reply.info.emplace().state_id = "s";
        fake.reply(reply);
    };
    const auto facts = co_await called(pair.keeper->info(), answer(pair.fake));  // waits for the new keeper
    EXPECT_EQ(facts.state_id, "s");
    EXPECT_EQ(pair.notices.size(), 2u);
    EXPECT_EQ(pair.notices[0].kind, core::KeeperNotice::Kind::link_lost);
    EXPECT_EQ(pair.notices[1].kind, core::KeeperNotice::Kind::link_back);
}
TEST(KeeperClient, ComesBackToAKeeperThatWasRestarted) {
    run_story(restart);
}

Task<> garbage(Pair& pair) {
    const auto answer = [](FakeKeeper& fake) -> Task<> {
        co_await fake.request();
        wire::KeeperReply reply{.id = 1};
        fake.reply(reply, {0, 1, 2, 0, 1, 2, 0, 1, 2});  // nine descriptors
    };
    try {
        co_await called(pair.keeper->info(), answer(pair.fake));
        ADD_FAILURE() << "took a cut packet";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unavailable);
    }
}
TEST(KeeperClient, HangsUpWhenDescriptorsWereCutOff) {
    run_story(garbage);
}

Task<> orphan(Pair& pair) {
    std::optional<core::NewBox> box;
    const auto give_up = [](FakeKeeper& fake, std::uint64_t& id) -> Task<> {
        id = (co_await fake.request()).id;
    };
    std::uint64_t id = 0;
    co_await race(store_in(box, pair.keeper->create({})),
                  give_up(pair.fake, id));  // the call is canceled here
    pair.fake.reply(box_reply(id), {0, 1, 2, 0, 1});
    const auto undo = co_await pair.fake.request();
    EXPECT_EQ(undo.kill.value().id, "iaaaaaaaaaaaaaaaaaaaa");
}
TEST(KeeperClient, KillsABoxThatNobodyWaitsForAnyMore) {
    run_story(orphan);
}

// The caller gives up in the very turn in which the box comes: it has the box, or the keeper is told.
Task<> crossing(Pair& pair) {
    for (int turns = 0; turns < 12; ++turns) {
        std::optional<core::NewBox> box;
        const auto answer = [](FakeKeeper& fake, int left) -> Task<> {
            fake.reply(box_reply((co_await fake.request()).id), {0, 1, 2, 0, 1, 2});
            while (left-- > 0) co_await yield_now();
        };
        try {
            co_await race(store_in(box, pair.keeper->create({})), answer(pair.fake, turns));
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), Errc::canceled);
        }
        if (box) continue;
        const auto undo = co_await with_timeout(1s, "the box is killed", pair.fake.request());
        EXPECT_TRUE(undo.kill) << turns;
    }
}
TEST(KeeperClient, LosesNoBoxThatComesWhenItsCallerGivesUp) {
    run_story(crossing);
}

}  // namespace
}  // namespace oyat::keeperlink
