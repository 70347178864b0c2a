#include <sys/prctl.h>
#include <sys/syscall.h>

#include <memory>

#include "keeper/test_keeper.hpp"

// The keeper as oyatd meets it: a real process, real jails.
namespace oyat::keeper {
namespace {

using test::create_order;
using test::info_order;
using test::kill_order;

std::uint32_t code(Errc errc) {
    return static_cast<std::uint32_t>(errc) + 1;
}

class KeeperProcessTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        if (::access(test::program("oyat-keeper").c_str(), X_OK) != 0 ||
            ::access(test::program("oyat-agent").c_str(), X_OK) != 0) {
            GTEST_SKIP() << "oyat-keeper and oyat-agent are not built";
        }
        keeper = std::make_unique<test::KeeperProcess>();
    }

    // The hello of an agent, or "" when it does not come.
    static std::string hello(const Fd& stream) {
        pollfd wait{stream.get(), POLLIN, 0};
        if (::poll(&wait, 1, 5000) != 1) return {};
        std::string bytes(64, '\0');
        bytes.resize(
            static_cast<std::size_t>(std::max<ssize_t>(0, ::read(stream.get(), bytes.data(), bytes.size()))));
        return bytes;
    }
    // By poll: a signal also reaches the dead whom nobody has reaped.
    static bool alive(const Fd& pidfd) {
        pollfd end{pidfd.get(), POLLIN, 0};
        return ::poll(&end, 1, 0) == 0;
    }

    std::unique_ptr<test::KeeperProcess> keeper;
};

TEST_F(KeeperProcessTest, HandsOutAJailWhoseAgentAnswers) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer made = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    ASSERT_EQ(made.fds.size(), 6U);
    EXPECT_EQ(made.reply.created->box.template_digest, keeper->digest);
    EXPECT_EQ(made.reply.created->box.owner_tag, "test");
    EXPECT_NE(hello(made.fds[0]), "");
    EXPECT_TRUE(alive(made.fds[1]));
    ASSERT_EQ(::write(made.fds[5].get(), "line\n", 5), 5);
    EXPECT_EQ(
        std::filesystem::file_size(keeper->dir + "/audit/" + made.reply.created->box.id + ".000001.log"), 5U);
}

TEST_F(KeeperProcessTest, LeavesNothingBehindWhenItStopsWithNoSandbox) {
    keeper->start();
    {
        test::Client oyatd = keeper->client();
        const test::Answer made = oyatd.ask(create_order(keeper->digest));
        ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
        EXPECT_EQ(oyatd.ask(kill_order(made.reply.created->box.id)).reply.code, 0U);
        EXPECT_FALSE(alive(made.fds[1]));
    }
    EXPECT_EQ(keeper->stop(), 0);
    EXPECT_EQ(test::traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, FindsItsSandboxesAfterItWasKilled) {
    keeper->start();
    const test::Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    const std::string id = made.reply.created->box.id;
    EXPECT_NE(hello(made.fds[0]), "");
    keeper->kill_hard();
    EXPECT_TRUE(alive(made.fds[1]));

    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer list = oyatd.ask({.list = wire::ListBoxes{}});
    ASSERT_EQ(list.reply.boxes->boxes.size(), 1U) << keeper->log();
    EXPECT_EQ(list.reply.boxes->boxes[0].id, id);
    EXPECT_EQ(list.reply.boxes->boxes[0].generation, made.reply.created->box.generation);
    const test::Answer again = oyatd.ask({.attach = wire::AttachBox{.id = id}});
    ASSERT_EQ(again.reply.code, 0U) << again.reply.message;
    EXPECT_NE(hello(again.fds[0]), "");
    EXPECT_EQ(oyatd.ask(kill_order(id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
    keeper->stop();
    EXPECT_EQ(test::traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, DestroysWhatNoRecordKnows) {
    keeper->start();
    const test::Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->kill_hard();
    std::filesystem::remove(keeper->dir + "/keeper/records/" + made.reply.created->box.id);
    keeper->start({"--pool=0"});
    EXPECT_FALSE(alive(made.fds[1]));
    const wire::KeeperInfo info = *keeper->client().ask(info_order()).reply.info;
    EXPECT_EQ(info.held.sandboxes + info.pooled.sandboxes, 0U);
    EXPECT_EQ(info.held.cgroups + info.pooled.cgroups, 0U);
    EXPECT_EQ(info.held.processes + info.pooled.processes, 0U);
}

TEST_F(KeeperProcessTest, KillsNobodyWhoMerelyHasTheRecordedNumber) {
    keeper->start({"--pool=0"});
    const test::Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->kill_hard();
    // The record now names this very test, whose start time is another.
    const std::string path = keeper->dir + "/keeper/records/" + made.reply.created->box.id;
    std::ifstream file{path};
    std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    std::string field;
    wire::put_tagged_varint(field, 5, static_cast<std::uint64_t>(::getpid()));  // the last of a field counts
    bytes[0] = static_cast<char>(bytes[0] + static_cast<char>(field.size()));   // its length, below 256
    ASSERT_EQ(bytes[1], 0);
    std::ofstream{path} << bytes + field;
    keeper->start({"--pool=0"});
    EXPECT_TRUE(keeper->client().ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.empty());
    EXPECT_FALSE(alive(made.fds[1]));  // the sandbox went, found by its control group
}

TEST_F(KeeperProcessTest, KeepsSandboxesWhenItIsStoppedUnlessItIsEphemeral) {
    keeper->start();
    const test::Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->stop();
    EXPECT_TRUE(alive(made.fds[1]));
    keeper->start({"--ephemeral"});
    keeper->stop();
    EXPECT_FALSE(alive(made.fds[1]));
    EXPECT_EQ(test::traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, ClaimsAWarmSandboxOnce) {
    keeper->start({"--pool=1"});
    test::Client oyatd = keeper->client();
    const test::Answer cold = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(cold.reply.code, 0U) << cold.reply.message;
    EXPECT_FALSE(cold.reply.created->box.warm);
    while (oyatd.ask(info_order()).reply.info->pooled.sandboxes == 0) ::usleep(10'000);
    wire::KeeperRequest order = create_order(keeper->digest, {.memory_bytes = 128 << 20, .processes = 77});
    order.create->from_pool_only = true;
    const test::Answer warm = oyatd.ask(order);
    ASSERT_EQ(warm.reply.code, 0U) << warm.reply.message;
    EXPECT_TRUE(warm.reply.created->box.warm);
    EXPECT_EQ(warm.reply.created->box.limits.processes, 77U);
    EXPECT_EQ(oyatd.ask(order).reply.code, code(Errc::exhausted));
}

TEST_F(KeeperProcessTest, TellsWhenASandboxEndsByItself) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer made = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, made.fds[1].get(), SIGKILL, nullptr, 0), 0);
    const wire::KeeperEvent died = oyatd.wait_for(wire::EventKind::died);
    EXPECT_EQ(died.id, made.reply.created->box.id);
    ASSERT_TRUE(died.last);
    EXPECT_GT(died.last->memory_limit, 0U);
}

TEST_F(KeeperProcessTest, FreezesThawsAndKillsAFrozenOne) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer made = oyatd.ask(create_order(keeper->digest));
    const std::string id = made.reply.created->box.id;
    EXPECT_EQ(oyatd.ask({.freeze = wire::FreezeBox{.id = id, .frozen = true}}).reply.code, 0U);
    EXPECT_TRUE(oyatd.ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.at(0).frozen);
    keeper->kill_hard();
    keeper->start();
    test::Client next = keeper->client();
    EXPECT_TRUE(next.ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.at(0).frozen);
    EXPECT_EQ(next.ask(kill_order(id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
}

TEST_F(KeeperProcessTest, DialsIntoTheSandboxAndSaysWhenNobodyListens) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer made = oyatd.ask(create_order(keeper->digest));
    const std::string id = made.reply.created->box.id;
    EXPECT_EQ(oyatd.ask({.dial = wire::DialBox{.id = id, .port = 8080}}).reply.code, code(Errc::unavailable));
    for (const std::uint32_t port : {0U, 65'536U, 65'501U, 65'502U}) {
        EXPECT_EQ(oyatd.ask({.dial = wire::DialBox{.id = id, .port = port}}).reply.code,
                  code(Errc::invalid_argument))
            << port;
    }
}

TEST_F(KeeperProcessTest, TakesTheSocketsFromAnEarlierOwnerAtAnAttach) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer first = oyatd.ask(create_order(keeper->digest));
    const test::Answer second = oyatd.ask({.attach = wire::AttachBox{.id = first.reply.created->box.id}});
    ASSERT_EQ(second.reply.code, 0U) << second.reply.message;
    // The old listener listens no more.
    EXPECT_EQ(::accept(first.fds[2].get(), nullptr, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(::accept(second.fds[2].get(), nullptr, nullptr), -1);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(KeeperProcessTest, ListensToTheNewestOyatdOnly) {
    keeper->start();
    test::Client old = keeper->client();
    EXPECT_EQ(old.ask(info_order()).reply.code, 0U);
    test::Client fresh = keeper->client();
    EXPECT_EQ(fresh.ask(info_order()).reply.code, 0U);
    EXPECT_THROW(old.ask(info_order()), Error);
}

TEST_F(KeeperProcessTest, CountsAndRatesAreCapped) {
    std::ofstream{keeper->dir + "/limits"} << "max_boxes = 2\n";
    keeper->start({"--pool=0", "--limits=" + keeper->dir + "/limits"});
    test::Client oyatd = keeper->client();
    const test::Answer one = oyatd.ask(create_order(keeper->digest));
    const test::Answer two = oyatd.ask(create_order(keeper->digest));
    EXPECT_EQ(two.reply.code, 0U);
    EXPECT_EQ(oyatd.ask(create_order(keeper->digest)).reply.code, code(Errc::exhausted));
}

TEST_F(KeeperProcessTest, RefusesOrdersForWhatIsNotThere) {
    keeper->start();
    test::Client oyatd = keeper->client();
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

TEST_F(KeeperProcessTest, ClosesConnectionsThatSendWhatNoOyatdWould) {
    keeper->start();
    wire::KeeperRequest two_orders = info_order();
    two_orders.id = 1;
    two_orders.list.emplace();
    wire::KeeperRequest no_id = info_order();
    for (const std::string& bytes :
         {std::string{"\xff"}, std::string(100, '\x7f'), std::string(wire::kMaxKeeperPacket + 1, '\0'),
          wire::encode(two_orders), wire::encode(no_id)}) {
        test::Client hostile = keeper->client();
        hostile.send(bytes);
        EXPECT_THROW((void)hostile.receive(), Error);
    }
    EXPECT_EQ(keeper->client().ask(info_order()).reply.code, 0U);
}

TEST_F(KeeperProcessTest, ClosesDescriptorsThatNobodyAskedFor) {
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
    test::Client oyatd = keeper->client();
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

TEST_F(KeeperProcessTest, RefusesOtherUsersOfTheMachine) {
    keeper->start();
    ASSERT_EQ(::chmod((keeper->dir + "/run/keeper.sock").c_str(), 0666), 0);  // even if the mode did not
    ASSERT_EQ(::chmod(keeper->dir.c_str(), 0755), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        if (::setuid(12'345) != 0) ::_exit(1);
        try {
            test::Client stranger{keeper->dir + "/run/keeper.sock"};
            stranger.send(wire::encode(info_order()));
            (void)stranger.receive();
        } catch (const Error&) {
            ::_exit(0);
        }
        ::_exit(2);
    }
    EXPECT_EQ(test::wait_status(other), 0);
}

TEST_F(KeeperProcessTest, ImportsAndExportsTemplates) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const Fd out{::open((keeper->dir + "/out.tar.zst").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    const test::Answer exported =
        oyatd.ask({.export_template = wire::ExportTemplate{.digest = keeper->digest}}, {out.get()});
    ASSERT_EQ(exported.reply.code, 0U) << exported.reply.message;
    ASSERT_EQ(oyatd.ask({.remove_template = wire::RemoveTemplate{.digest = keeper->digest}}).reply.code, 0U);
    EXPECT_TRUE(oyatd.ask({.list_templates = wire::ListTemplates{}}).reply.templates->templates.empty());
    ::lseek(out.get(), 0, SEEK_SET);
    const test::Answer imported = oyatd.ask(
        {.import_template = wire::ImportTemplate{.name = "again", .digest = keeper->digest}}, {out.get()});
    ASSERT_EQ(imported.reply.code, 0U) << imported.reply.message;
    EXPECT_EQ(imported.reply.template_info->digest, keeper->digest);
}

TEST_F(KeeperProcessTest, KeepsATemplateThatASandboxIsMadeOf) {
    keeper->start();
    test::Client oyatd = keeper->client();
    const test::Answer made = oyatd.ask(create_order(keeper->digest));
    EXPECT_EQ(oyatd.ask({.remove_template = wire::RemoveTemplate{.digest = keeper->digest}}).reply.code,
              code(Errc::failed_precondition));
}

TEST_F(KeeperProcessTest, DoesNotRunTwiceOnOneState) {
    keeper->start();
    const std::string again = test::program("oyat-keeper") + " --state=" + keeper->dir +
                              " --run=" + keeper->dir + "/run2 --templates=" + keeper->dir +
                              "/templates --agent=" + test::program("oyat-agent") + " 2>&1; true";
    EXPECT_TRUE(test::output_of(again).contains("another keeper runs on this state"));
}

}  // namespace
}  // namespace oyat::keeper
