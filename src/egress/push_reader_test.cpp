#include "egress/push_reader.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

const std::string kOld(40, '0'), kNew(40, 'a');

std::string packet(const std::string& line) {
    std::array<char, 5> size{};
    std::snprintf(size.data(), size.size(), "%04zx", line.size() + 4);
    return size.data() + line;
}

std::string command(const std::string& ref) {
    return packet(kOld + " " + kNew + " " + ref);
}

const std::string kFirst =
    packet(kOld + " " + kNew + " refs/heads/agent/one" + '\0' + " report-status atomic\n");

PushReader plain() {
    return or_throw(PushReader::of({}));
}

TEST(PushReader, ReadsEveryRefUpToTheFlush) {
    PushReader reader = plain();
    EXPECT_TRUE(
        or_throw(reader.take(packet("shallow " + kNew) + kFirst + command("refs/tags/v1") + "0000PACK...")));
    EXPECT_EQ(reader.refs(), (std::vector<std::string>{"refs/heads/agent/one", "refs/tags/v1"}));
}

TEST(PushReader, ADeletionIsAChange) {
    PushReader reader = plain();
    EXPECT_TRUE(or_throw(reader.take(packet(kNew + " " + kOld + " refs/heads/main") + "0000")));
    EXPECT_EQ(reader.refs(), std::vector<std::string>{"refs/heads/main"});
}

TEST(PushReader, BordersOfPiecesMeanNothing) {
    const std::string body = kFirst + command("refs/heads/two") + "0000";
    for (std::size_t at = 0; at < body.size(); ++at) {
        PushReader reader = plain();
        EXPECT_FALSE(or_throw(reader.take(body.substr(0, at)))) << at;
        EXPECT_TRUE(or_throw(reader.take(body.substr(at)))) << at;
        EXPECT_EQ(reader.refs().size(), 2U) << at;
    }
}

TEST(PushReader, ReadsWhatIsCompressed) {
    http::Gzip gzip;
    const std::string packed = gzip.put(kFirst + "0000") + gzip.end();
    PushReader reader = or_throw(PushReader::of({{"Content-Encoding", "gzip"}}));
    EXPECT_FALSE(or_throw(reader.take(packed.substr(0, 12))));
    EXPECT_TRUE(or_throw(reader.take(packed.substr(12))));
    EXPECT_EQ(reader.refs(), std::vector<std::string>{"refs/heads/agent/one"});
    for (const char* other : {"br", "gzip, gzip", "identity", "GZIP"}) {
        EXPECT_FALSE(PushReader::of({{"Content-Encoding", other}})) << other;
    }
    EXPECT_FALSE(or_throw(PushReader::of({{"Content-Encoding", "gzip"}})).take("0000"));
}

TEST(PushReader, RefusesWhatAServerCouldReadOtherwise) {
    const std::string longer(64, 'a');
    for (const std::string& body : {
             std::string{"0001"},
             std::string{"0004"},
             std::string{"-001"},
             std::string{"fff1"},
             std::string{"\n000"},
             packet("push-cert" + std::string{'\0'} + "\n"),
             packet("shallow main"),
             packet(kOld + " " + longer + " refs/heads/a"),
             packet(kOld + "  " + kNew + " refs/heads/a"),
             packet(kOld + " " + kNew),
             packet(kOld + " " + kNew + " "),
             packet(std::string(40, 'g') + " " + kNew + " refs/heads/a"),
         }) {
        EXPECT_FALSE(plain().take(body)) << body;
    }
}

TEST(PushReader, TakesOnlyNamesThatGitTakes) {
    EXPECT_TRUE(is_full_ref("refs/heads/agent/x-1.2_@"));
    for (const char* name :
         {"main", "HEAD", "refs/heads/../main", "refs/heads/a b", "refs/heads//a", "refs/heads/a/",
          "refs/heads/.a", "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a~1", "refs/heads/a.",
          "refs/heads/a@{1}", "refs/heads/a\nb", "refs/heads/*", "refs/", "/refs/heads/a"}) {
        EXPECT_FALSE(is_full_ref(name)) << name;
        EXPECT_FALSE(plain().take(command(name) + "0000")) << name;
    }
}

TEST(PushReader, AListWithoutEndIsRefusedInTime) {
    PushReader reader = plain();
    const std::string line = packet("shallow " + kNew);
    std::size_t sent = 0;
    while (reader.take(line) && sent <= 2 * PushReader::kMaxBytes) sent += line.size();
    EXPECT_LE(sent, PushReader::kMaxBytes + line.size());

    PushReader many = plain();
    std::size_t refs = 0;
    while (many.take(command("refs/heads/" + std::to_string(refs))) && refs < 2 * PushReader::kMaxRefs)
        ++refs;
    EXPECT_EQ(refs, PushReader::kMaxRefs);
}

}  // namespace
}  // namespace oyat::egress
