#include "layers/template_meta.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

TEST(TemplateMeta, SurvivesItsOwnJson) {
    const TemplateMeta meta{.digest = "sha256:" + std::string(64, 'a'),
                            .files = 7,
                            .bytes = 1ULL << 40,
                            .created_ms = 1'700'000'000'000};
    const TemplateMeta again = or_throw(parse_template_meta(to_json(meta)));
    EXPECT_EQ(to_json(again), to_json(meta));
}

TEST(TemplateMeta, RefusesWhatItWouldNotUnderstand) {
    for (const char* json : {"", "{}", "{\"digest\":\"x\"}", "[]", "{\"digest\":",
                             "{\"digest\":\"sha256:\\u0061\"}", "{\"digest\":1} ", "{\"a\":{}}"}) {
        EXPECT_FALSE(parse_template_meta(json)) << json;
    }
}

}  // namespace
}  // namespace oyat::layers
