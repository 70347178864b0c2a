#include "secrets/binding.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/throwing.hpp"

namespace oyat::secrets {
namespace {

core::SecretBinding asked(std::string_view json) {
    return or_throw(core::secret_binding_from_json(boost::json::parse(json).as_object()));
}

Binding made(std::string_view json) {
    return or_throw(Binding::parse(asked(json)));
}

std::string refused(std::string_view json) {
    const auto known = core::secret_binding_from_json(boost::json::parse(json).as_object());
    if (!known) return known.error().message();
    const auto binding = Binding::parse(*known);
    return binding ? "" : binding.error().message();
}

TEST(SecretBinding, ReadsEverythingThatItWrites) {
    const core::SecretBinding binding = asked(
        R"({"secret":"a","env":"A","shape":"sk-{32}","where":{"host":["x.example"],"port":[443,8443],"method":["GET"],
            "path":["/v1/**"],"allow_plain":true},"how":{"in":"header","name":"authorization","format":"Bearer {}"},
            "scope":{"commands":[{"argv":["python","*"]}]},"expires_ms":1800000000000,"max_uses":5,
            "during_install":true,"on_fork":"rebind","on_snapshot":"rebind"})");
    const boost::json::object written = core::to_json(binding);
    EXPECT_EQ(core::to_json(or_throw(core::secret_binding_from_json(written))), written);
    EXPECT_EQ(binding.ports, (std::vector<std::uint16_t>{443, 8443}));
    EXPECT_EQ(binding.on_fork, core::OnCopy::rebind);
    EXPECT_EQ(binding.commands.front(), (std::vector<std::string>{"python", "*"}));
}

TEST(SecretBinding, RefusesWhatItDoesNotKnow) {
    for (const char* json :
         {R"({"secret":"a","nonsense":1})", R"({"where":{"hots":["x"]}})", R"({"how":{"in":"cookie"}})",
          R"({"how":{"in":7}})", R"({"where":{"port":[0]}})", R"({"where":{"port":[]}})",
          R"({"where":{"port":[70000]}})", R"({"max_uses":-1})", R"({"scope":{"commands":["python"]}})",
          R"({"on_fork":"keep"})", R"({"secret":["a"]})"}) {
        EXPECT_FALSE(core::secret_binding_from_json(boost::json::parse(json).as_object())) << json;
    }
}

TEST(Binding, RefusesHostsWiderThanOneRegisteredDomain) {
    for (const char* host : {"*", "*.com", "**.co.uk", "*.github.io", "**.internal"}) {
        const std::string json = R"({"secret":"a","env":"A","where":{"host":[")" + std::string{host} +
                                 R"("]},"how":{"in":"header"}})";
        EXPECT_NE(refused(json).find("wider than one registered domain"), std::string::npos) << host;
    }
    for (const char* host :
         {"a.example", "*.corp.example", "*.staging.internal", "me.github.io", "**.x.co.uk"}) {
        const std::string json = R"({"secret":"a","env":"A","where":{"host":[")" + std::string{host} +
                                 R"("]},"how":{"in":"header"}})";
        EXPECT_EQ(refused(json), "") << host;
    }
}

TEST(Binding, RefusesWhatCouldNotBeEnforced) {
    for (
        const char* json : {
            R"({"env":"A","where":{"host":["x.example"]},"how":{"in":"header"}})",
            R"({"secret":"a","where":{"host":["x.example"]},"how":{"in":"header"}})",
            R"({"secret":"a","env":"A","how":{"in":"header"}})",
            R"({"secret":"a","env":"A B","where":{"host":["x.example"]},"how":{"in":"header"}})",
            R"({"secret":"a","env":"A","where":{"host":["x.example"]},"how":{"in":"query"}})",
            R"({"secret":"a","env":"A","where":{"host":["x.example"]},"how":{"in":"header","name":"Host"}})",
            R"({"secret":"a","env":"A","where":{"host":["x.example"]},"how":{"in":"header","name":"a b"}})",
            R"({"secret":"a","env":"A","where":{"host":["x.example"]},"how":{"in":"set_header","name":"X","format":"{}"}})",
            R"({"secret":"a","where":{"host":["x.example"]},"how":{"in":"set_header","name":"X"}})",
            R"({"where":{"host":["x.example"]},"how":{"in":"set_header","name":"X","format":"{}"}})",
            R"({"secret":"a","where":{"host":["x.example"]},"how":{"in":"set_header","name":"Content-Length","format":"{}"}})",
            R"({"secret":"a","where":{"host":["x.example"]},"how":{"in":"set_header","name":"X","format":"{oops}"}})",
            R"({"secret":"a","where":{"host":["x.example"]},"how":{"in":"set_header","name":"X","format":"}{"}})",
            R"({"secret":"a","env":"A","shape":"sk-{2}","where":{"host":["x.example"]},"how":{"in":"header"}})",
            R"({"secret":"a","env":"A","where":{"host":["X..example"]},"how":{"in":"header"}})",
            R"({"secret":"a","env":"A","where":{"host":["x.example"],"method":["G T"]},"how":{"in":"header"}})",
        }) {
        EXPECT_NE(refused(json), "") << json;
    }
}

TEST(Binding, TwoForTheSamePlaceOfOneRequestContradict) {
    const auto with = [](std::string_view secret, std::string_view where, std::string_view how) {
        return made(R"({"secret":")" + std::string{secret} + R"(","env":"A","where":{)" + std::string{where} +
                    R"(},"how":{)" + std::string{how} + "}}");
    };
    constexpr const char* kAuthorization = R"("in":"header","name":"Authorization")";
    const Binding first = with("a", R"("host":["*.x.example"],"path":["/a/**"])", kAuthorization);
    EXPECT_TRUE(first.contradicts(with("b", R"("host":["api.x.example"])", R"("in":"basic")")));
    EXPECT_TRUE(first.contradicts(with("b", R"("host":["**.x.example"],"path":["/a/b"])", kAuthorization)));
    EXPECT_FALSE(
        first.contradicts(with("b", R"("host":["api.x.example"],"path":["/b/**"])", kAuthorization)));
    EXPECT_FALSE(first.contradicts(with("b", R"("host":["api.y.example"])", kAuthorization)));
    EXPECT_FALSE(first.contradicts(with("b", R"("host":["api.x.example"],"port":[8443])", kAuthorization)));
    EXPECT_FALSE(
        first.contradicts(with("b", R"("host":["api.x.example"])", R"("in":"header","name":"X-Key")")));
}

TEST(Binding, KnowsItsCommands) {
    const Binding binding =
        made(R"({"secret":"a","env":"A","where":{"host":["x.example"]},"how":{"in":"header"},
        "scope":{"commands":[{"argv":["python","*"]},{"argv":["/usr/bin/git","push","**"]}]}})");
    EXPECT_TRUE(binding.fits_command({"python", "run.py"}));
    EXPECT_TRUE(binding.fits_command({"/usr/bin/python", "/a/run.py"}));
    EXPECT_TRUE(binding.fits_command({"/usr/bin/git", "push", "origin", "main"}));
    EXPECT_FALSE(binding.fits_command({"git", "push"}));
    EXPECT_FALSE(binding.fits_command({"python"}));
    EXPECT_FALSE(binding.fits_command({"python", "a", "b"}));
    EXPECT_FALSE(binding.fits_command({"notpython", "a"}));
}

}  // namespace
}  // namespace oyat::secrets
