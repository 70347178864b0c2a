#include <sys/stat.h>

#include <iterator>

#include "keeper/test_keeper.hpp"

// What a hostile oyatd may try at the door (threats D-01 to D-09), and what it is told.
namespace oyat::keeper::test {
namespace {

using KeeperDoorTest = KeeperProcessTest;

TEST_F(KeeperDoorTest, DialsIntoTheSandboxAndSaysWhenNobodyListens) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    const std::string id = made.reply.created->box.id;
    EXPECT_EQ(oyatd.ask({.dial = wire::DialBox{.id = id, .port = 8080}}).reply.code, code(Errc::unavailable));
    for (const std::uint32_t port : {0U, 65'536U, 65'501U, 65'502U}) {
        EXPECT_EQ(oyatd.ask({.dial = wire::DialBox{.id = id, .port = port}}).reply.code,
                  code(Errc::invalid_argument))
            << port;
    }
}

TEST_F(KeeperDoorTest, TakesTheSocketsFromAnEarlierOwnerAtAnAttach) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer first = oyatd.ask(create_order(keeper->digest));
    const Answer second = oyatd.ask({.attach = wire::AttachBox{.id = first.reply.created->box.id}});
    ASSERT_EQ(second.reply.code, 0U) << second.reply.message;
    // The old listener listens no more.
    EXPECT_EQ(::accept(first.fds[2].get(), nullptr, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(::accept(second.fds[2].get(), nullptr, nullptr), -1);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(KeeperDoorTest, ListensToTheNewestOyatdOnly) {
    keeper->start();
    Client old = keeper->client();
    EXPECT_EQ(old.ask(info_order()).reply.code, 0U);
    Client fresh = keeper->client();
    EXPECT_EQ(fresh.ask(info_order()).reply.code, 0U);
    EXPECT_THROW(old.ask(info_order()), Error);
}

TEST_F(KeeperDoorTest, CountsAndRatesAreCapped) {
    std::ofstream{keeper->dir + "/limits"} << "max_boxes = 2\n";
    keeper->start({"--pool=0", "--limits=" + keeper->dir + "/limits"});
    Client oyatd = keeper->client();
    const Answer one = oyatd.ask(create_order(keeper->digest));
    const Answer two = oyatd.ask(create_order(keeper->digest));
    EXPECT_EQ(two.reply.code, 0U);
    EXPECT_EQ(oyatd.ask(create_order(keeper->digest)).reply.code, code(Errc::exhausted));
}

TEST_F(KeeperDoorTest, RefusesOrdersForWhatIsNotThere) {
    keeper->start();
    Client oyatd = keeper->client();
    for (const char* id : {"", "i", "../../etc", "i0123456789012345678X", "I01234567890123456789"}) {
        EXPECT_EQ(oyatd.ask(kill_order(id)).reply.code, code(Errc::invalid_argument)) << id;
    }
    const std::string unknown = "i00000000000000000000";
    EXPECT_EQ(oyatd.ask(kill_order(unknown)).reply.code, code(Errc::not_found));
    EXPECT_EQ(oyatd.ask({.attach = wire::AttachBox{.id = unknown}}).reply.code, code(Errc::not_found));
    EXPECT_EQ(oyatd.ask({.freeze = wire::FreezeBox{.id = unknown}}).reply.code, code(Errc::not_found));
    EXPECT_EQ(oyatd.ask({.dial = wire::DialBox{.id = unknown, .port = 80}}).reply.code,
              code(Errc::not_found));
    EXPECT_EQ(oyatd.ask({.update = wire::UpdateLimits{.id = unknown}}).reply.code, code(Errc::not_found));
    EXPECT_EQ(oyatd.ask(create_order("sha256:" + std::string(64, '0'))).reply.code, code(Errc::not_found));
    EXPECT_EQ(oyatd.ask(create_order("base")).reply.code, code(Errc::invalid_argument));
}

TEST_F(KeeperDoorTest, ClosesConnectionsThatSendWhatNoOyatdWould) {
    keeper->start();
    wire::KeeperRequest two_orders = info_order();
    two_orders.id = 1;
    two_orders.list.emplace();
    wire::KeeperRequest no_id = info_order();
    for (const std::string& bytes :
         {std::string{"\xff"}, std::string(100, '\x7f'), std::string(wire::kMaxKeeperPacket + 1, '\0'),
          wire::encode(two_orders), wire::encode(no_id)}) {
        Client hostile = keeper->client();
        hostile.send(bytes);
        EXPECT_THROW((void)hostile.receive(), Error);
    }
    EXPECT_EQ(keeper->client().ask(info_order()).reply.code, 0U);
}

TEST_F(KeeperDoorTest, ClosesDescriptorsThatNobodyAskedFor) {
    keeper->start({"--pool=0"});
    const auto open_fds = [&] {
        const std::filesystem::directory_iterator all{"/proc/" + std::to_string(keeper->pid) + "/fd"};
        return std::distance(begin(all), end(all));
    };
    // It opens and closes some of its own while its pools fill: counted is what stays for 300 ms.
    const auto settled = [&] {
        auto count = open_fds();
        for (int same = 0; same < 30; ++same) {
            ::usleep(10'000);
            if (const auto now = open_fds(); now != count) {
                count = now;
                same = 0;
            }
        }
        return count;
    };
    Client oyatd = keeper->client();
    (void)oyatd.ask(info_order());
    while (oyatd.ask(info_order()).reply.info->pooled.netns < 8) ::usleep(10'000);
    const auto before = settled();
    EXPECT_EQ(oyatd.ask(info_order(), {0, 1}).reply.code, code(Errc::invalid_argument));
    EXPECT_EQ(oyatd.ask({.import_template = wire::ImportTemplate{}}).reply.code,
              code(Errc::invalid_argument));
    EXPECT_EQ(oyatd.ask({.import_template = wire::ImportTemplate{}}, {0, 1}).reply.code,
              code(Errc::invalid_argument));
    EXPECT_EQ(settled(), before);
    oyatd.send(wire::encode(info_order()), std::vector<int>(253, 0));
    EXPECT_THROW((void)oyatd.receive(), Error);
    (void)keeper->client().ask(info_order());
    EXPECT_LE(settled(), before);
}

TEST_F(KeeperDoorTest, RefusesOtherUsersOfTheMachine) {
    keeper->start();
    ASSERT_EQ(::chmod((keeper->dir + "/run/keeper.sock").c_str(), 0666), 0);  // even if the mode did not
    ASSERT_EQ(::chmod(keeper->dir.c_str(), 0755), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        if (::setuid(12'345) != 0) ::_exit(1);
        try {
            Client stranger{keeper->dir + "/run/keeper.sock"};
            stranger.send(wire::encode(info_order()));
            (void)stranger.receive();
        } catch (const Error&) {
            ::_exit(0);
        }
        ::_exit(2);
    }
    EXPECT_EQ(wait_status(other), 0);
}

TEST_F(KeeperDoorTest, ImportsAndExportsTemplates) {
    keeper->start();
    Client oyatd = keeper->client();
    const Fd out{::open((keeper->dir + "/out.tar.zst").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    const Answer exported =
        oyatd.ask({.export_template = wire::ExportTemplate{.digest = keeper->digest}}, {out.get()});
    ASSERT_EQ(exported.reply.code, 0U) << exported.reply.message;
    ASSERT_EQ(oyatd.ask({.remove_template = wire::RemoveTemplate{.digest = keeper->digest}}).reply.code, 0U);
    EXPECT_TRUE(oyatd.ask({.list_templates = wire::ListTemplates{}}).reply.templates->templates.empty());
    ::lseek(out.get(), 0, SEEK_SET);
    const Answer imported = oyatd.ask(
        {.import_template = wire::ImportTemplate{.name = "again", .digest = keeper->digest}}, {out.get()});
    ASSERT_EQ(imported.reply.code, 0U) << imported.reply.message;
    EXPECT_EQ(imported.reply.template_info->digest, keeper->digest);
}

TEST_F(KeeperDoorTest, KeepsATemplateThatASandboxIsMadeOf) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    EXPECT_EQ(oyatd.ask({.remove_template = wire::RemoveTemplate{.digest = keeper->digest}}).reply.code,
              code(Errc::failed_precondition));
}

}  // namespace
}  // namespace oyat::keeper::test
