#include "core/secret_variables.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

TEST(SecretVariables, AreToldByTheirNames) {
    for (const char* name : {"GITHUB_TOKEN", "npm_config_password", "API_KEY", "AWS_SECRET_ACCESS_KEY",
                             "apiKey_KEY", "PGPASSWORD", "DB_PASS", "E2B_API_KEY", "SSH_PRIVATE", "auth"}) {
        EXPECT_TRUE(names_a_secret(name)) << name;
    }
    for (const char* name : {"PATH", "GIT_AUTHOR_NAME", "MONKEY", "KEYBOARD", "PWD", "COMPASS", "LANG", ""}) {
        EXPECT_FALSE(names_a_secret(name)) << name;
    }
}

TEST(SecretVariables, GiveTheirValuesAndThePasswordsOfUrls) {
    const auto secrets = secrets_in({{"API_KEY", "0123456789"},
                                     {"DATABASE_URL", "postgres://app:correct-horse@db:5432/x"},
                                     {"HOME", "/home/user"},
                                     {"PIN_TOKEN", "1234"},
                                     {"PLAIN_URL", "https://host/a:b@c"}});
    EXPECT_EQ(secrets,
              (std::vector<masking::Value>{{"API_KEY", "0123456789"}, {"DATABASE_URL", "correct-horse"}}));
}

}  // namespace
}  // namespace oyat::core
