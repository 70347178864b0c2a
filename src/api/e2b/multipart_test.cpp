#include "api/e2b/multipart.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

// All parts of a body that comes in pieces of `step` bytes, as "name|filename|data;".
std::string parts(std::string_view body, std::size_t step, std::string_view boundary = "XX") {
    MultipartReader reader{boundary};
    std::string seen;
    while (true) {
        const Result<MultipartReader::Event> event = reader.next();
        if (!event) return seen + "refused";
        if (std::holds_alternative<MultipartReader::Finished>(*event)) return seen;
        if (std::holds_alternative<MultipartReader::NeedsMore>(*event)) {
            if (body.empty()) return seen + "cut off";
            reader.feed(body.substr(0, step));
            body.remove_prefix(std::min(step, body.size()));
        } else if (const auto* begin = std::get_if<MultipartReader::PartBegin>(&*event)) {
            seen += begin->head.name + "|" + begin->head.filename.value_or("-") + "|";
        } else if (const auto* data = std::get_if<MultipartReader::PartData>(&*event)) {
            seen += data->bytes;
        } else {
            seen += ";";
        }
    }
}

std::string part(std::string_view disposition, std::string_view data) {
    return "--XX\r\nContent-Disposition: form-data; " + std::string{disposition} +
           "\r\nContent-Type: text/plain\r\n\r\n" + std::string{data} + "\r\n";
}

TEST(Multipart, FindsPartsHoweverTheBytesCome) {
    const std::string body =
        "preamble\r\n" + part(R"(name="file"; filename="/a b/c.txt")", "one\r\n--XY\r\n-") +
        part(R"(name=x)", "") + part(R"(name="file"; filename="é")", "two") + "--XX--\r\nrest";
    for (std::size_t step = 1; step <= body.size(); ++step) {
        EXPECT_EQ(parts(body, step), "file|/a b/c.txt|one\r\n--XY\r\n-;x|-|;file|é|two;")
            << "in steps of " << step;
    }
}

TEST(Multipart, ABodyMayStartWithItsBoundaryAndHaveNoParts) {
    EXPECT_EQ(parts("--XX--", 3), "");
    EXPECT_EQ(parts(part("name=a", "1") + "--XX--", 100), "a|-|1;");
}

TEST(Multipart, FileNamesAreUnescapedAsFormsEscapeThem) {
    EXPECT_EQ(parts(part(R"(name="file"; filename="a%22b%0D%0Ac%2F")", "") + "--XX--", 9),
              "file|a\"b\r\nc%2F|;");
    EXPECT_EQ(parts(part(R"(name="file"; filename="a\"b")", "") + "--XX--", 9), "file|a\"b|;");
    EXPECT_EQ(parts(part(R"(filename="back\"; name="file")", "") + "--XX--", 9), "file|back\\|;");
    EXPECT_EQ(parts(part(R"(name="file"; filename="a;name=x")", "") + "--XX--", 9), "file|a;name=x|;");
}

TEST(Multipart, SaysWhenABodyIsCutOffOrBroken) {
    EXPECT_EQ(parts(part("name=a", "12"), 100), "a|-|cut off");
    EXPECT_EQ(parts("--XXjunk", 100), "refused");
    EXPECT_EQ(parts("--XX\r\nno colon\r\n\r\n", 100), "refused");
    EXPECT_EQ(parts("--XX\r\nContent-Type: a\r\n\r\n", 100), "refused");
    EXPECT_EQ(parts("--XX\r\n\r\nx", 100), "refused");
    EXPECT_EQ(parts("--XX\r\nA: " + std::string(20'000, 'a'), 100'000), "refused");
    EXPECT_EQ(parts("", 1), "cut off");
}

TEST(Multipart, TheBoundaryComesFromTheType) {
    EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc").value(), "abc");
    EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=x; boundary=\"a b\"").value(), "a b");
    EXPECT_FALSE(multipart_boundary("multipart/form-data"));
    EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary="));
    EXPECT_FALSE(multipart_boundary("multipart/mixed; boundary=abc"));
    EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary=" + std::string(71, 'a')));
}

}  // namespace
}  // namespace oyat::e2b
