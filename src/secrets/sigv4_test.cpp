#include "secrets/sigv4.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

// Signatures of the public examples in "Signature Calculations" of the S3 API reference; the key is theirs.
namespace oyat::secrets::sigv4 {
namespace {

constexpr std::string_view kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const Key kKey{
    .id = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", .session = {}};

std::string authorization(std::string_view fields, std::string_view key = "oyat_ph_x") {
    return "AWS4-HMAC-SHA256 Credential=" + std::string{key} +
           "/20130524/us-east-1/s3/aws4_request, SignedHeaders=" + std::string{fields} + ", Signature=00";
}

Request object(http::Fields fields, std::string target = "/test.txt", std::string method = "GET") {
    return {.method = std::move(method),
            .host = "examplebucket.s3.amazonaws.com",
            .target = std::move(target),
            .fields = std::move(fields),
            .body = {}};
}

Claim claim(const Request& request) {
    return or_throw(read_claim(request.fields, request.target)).value();
}

TEST(SigV4, SignsTheExampleOfGettingAnObject) {
    Request request =
        object({{"Range", "bytes=0-9"},
                {"x-amz-content-sha256", std::string{kEmpty}},
                {"x-amz-date", "20130524T000000Z"},
                {"Authorization", authorization("host;range;x-amz-content-sha256;x-amz-date")}});
    or_throw(sign(request, claim(request), kKey));
    EXPECT_EQ(request.fields.get("Authorization"),
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
              "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
              "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, SignsTheExampleOfPuttingAnObject) {
    Request request = object(
        {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
         {"x-amz-date", "20130524T000000Z"},
         {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
         {"x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"},
         {"Authorization", authorization("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class")}},
        "/test%24file.text", "PUT");
    or_throw(sign(request, claim(request), kKey));
    EXPECT_TRUE(request.fields.get("Authorization")
                    .ends_with("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(SigV4, SignsTheExampleOfAPresignedLink) {
    Request request =
        object({},
               "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=oyat_ph_x%2F20130524%2F"
               "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
               "X-Amz-SignedHeaders=host&X-Amz-Signature=00");
    const Claim made = claim(request);
    EXPECT_EQ(made.key_id, "oyat_ph_x");
    or_throw(sign(request, made, kKey));
    EXPECT_TRUE(request.target.ends_with(
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
        << request.target;
    EXPECT_EQ(request.target.find("oyat_ph_x"), std::string::npos);
}

TEST(SigV4, HashesTheBodyWhenTheClientDidNot) {
    const http::Fields fields{{"x-amz-date", "20130524T000000Z"},
                              {"Authorization", authorization("host;x-amz-date")}};
    Request one = object(fields, "/", "POST");
    Request two = object(fields, "/", "POST");
    two.body = "{}";
    EXPECT_TRUE(needs_body(claim(one), one.fields));
    or_throw(sign(one, claim(one), kKey));
    or_throw(sign(two, claim(two), kKey));
    EXPECT_NE(one.fields.get("Authorization"), two.fields.get("Authorization"));
}

TEST(SigV4, ReplacesTheTokenOfASessionByItsOwn) {
    Request request = object(
        {{"x-amz-date", "20130524T000000Z"},
         {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"},
         {"x-amz-security-token", "of the client"},
         {"Authorization", authorization("host;x-amz-content-sha256;x-amz-date;x-amz-security-token")}});
    const Claim made = claim(request);
    Request without = request;
    or_throw(sign(without, made, kKey));
    EXPECT_FALSE(without.fields.has("X-Amz-Security-Token"));
    or_throw(sign(request, made, or_throw(Key::parse("AKID:secret:session"))));
    EXPECT_EQ(request.fields.get("X-Amz-Security-Token"), "session");
    EXPECT_NE(request.fields.get("Authorization").find("x-amz-security-token"), std::string_view::npos);
}

TEST(SigV4, RefusesBodiesThatAreSignedPieceByPiece) {
    Request request = object({{"x-amz-date", "20130524T000000Z"},
                              {"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                              {"Authorization", authorization("host;x-amz-content-sha256;x-amz-date")}});
    EXPECT_FALSE(sign(request, claim(request), kKey));
}

// Some clients sign what oyatd writes itself; the signature that it makes covers the rest.
TEST(SigV4, LeavesOutOfTheSignatureWhatItDoesNotForward) {
    Request request = object(
        {{"x-amz-date", "20130524T000000Z"},
         {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"},
         {"Authorization", authorization("content-length;expect;host;x-amz-content-sha256;x-amz-date")}});
    or_throw(sign(request, claim(request), kKey));
    EXPECT_NE(request.fields.get("Authorization").find("SignedHeaders=host;x-amz-content-sha256;x-amz-date,"),
              std::string_view::npos);

    Request link = object({},
                          "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=oyat_ph_x%2F20130524%2F"
                          "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&"
                          "X-Amz-SignedHeaders=content-length%3Bhost&X-Amz-Signature=00");
    or_throw(sign(link, claim(link), kKey));
    EXPECT_NE(link.target.find("X-Amz-SignedHeaders=host&"), std::string::npos) << link.target;
}

TEST(SigV4, RefusesClaimsThatAreNone) {
    for (const char* text :
         {"AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=host, Signature=0",
          "AWS4-HMAC-SHA256 Credential=a/1/r/s/aws4_request, SignedHeaders=x-amz-date, Signature=0",
          "AWS4-HMAC-SHA256 Credential=a/1/r\n/s/aws4_request, SignedHeaders=host, Signature=0",
          "AWS4-HMAC-SHA256 Credential=a/1/r/s/other, SignedHeaders=host;;x, Signature=0"}) {
        EXPECT_FALSE(read_claim({{"Authorization", text}}, "/")) << text;
    }
    EXPECT_FALSE(or_throw(read_claim({{"Authorization", "Bearer x"}}, "/?X-Amz-Nothing=1")));
}

TEST(SigV4, AKeyHasAnIdAndASecret) {
    for (const char* text : {"", "only-one-part", ":secret", "id:", "i d:secret"})
        EXPECT_FALSE(Key::parse(text)) << text;
    EXPECT_EQ(or_throw(Key::parse("AKID:se/cret+\n")).secret, "se/cret+");
}

}  // namespace
}  // namespace oyat::secrets::sigv4
