#include "daemon/options.hpp"

#include <gtest/gtest.h>

namespace oyat::daemon {
namespace {

TEST(Options, TakesValuesBothWays) {
    const Options options =
        parse_options({"--state", "/s", "--listen=127.0.0.1:0", "--ready-fd", "8", "--insecure"}).value();
    EXPECT_EQ(options.state, "/s");
    EXPECT_EQ(options.listen, "127.0.0.1:0");
    EXPECT_EQ(options.ready_fd, 8);
    EXPECT_TRUE(options.insecure);
}

TEST(Options, HasTheHousesDefaults) {
    const Options options = parse_options({}).value();
    EXPECT_EQ(options.state, "/var/lib/oyat");
    EXPECT_EQ(options.keeper_socket, "/run/oyat/keeper.sock");
    EXPECT_EQ(options.ready_fd, -1);
}

TEST(Options, RefusesWhatItDoesNotKnow) {
    const std::vector<std::vector<std::string_view>> bad{
        {"--stat", "/s"}, {"--state"}, {"--state="}, {"--ready-fd", "x"}, {"--ready-fd", "-1"}, {"serve"}};
    for (const auto& arguments : bad) EXPECT_FALSE(parse_options(arguments)) << arguments.front();
}

TEST(Options, TheHelpNamesEveryOption) {
    for (const char* name :
         {"--config", "--state", "--keeper", "--user", "--listen", "--insecure", "--tls-listen", "--tls-cert",
          "--tls-key", "--domain", "--tls-domain", "--api-key-file", "--max-sandboxes", "--log-level",
          "--ready-fd", "--ready-file", "--version", "--help"}) {
        EXPECT_NE(usage().find(name), std::string_view::npos) << name;
    }
}

}  // namespace
}  // namespace oyat::daemon
