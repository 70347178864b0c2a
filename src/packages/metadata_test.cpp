#include "packages/metadata.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace oyat::packages {
namespace {

std::string npm(std::string_view text) {
    const auto known = read_npm_manifest(text);
    return known ? known->name + " " + known->version : "nothing";
}
std::string python(std::string_view text) {
    const auto known = read_python_metadata(text);
    return known ? known->name + " " + known->version : "nothing";
}

TEST(PackageMetadata, PythonsHeadNamesAPackage) {
    EXPECT_EQ(python("Metadata-Version: 2.1\nName: requests\nVersion: 2.31.0\n\nName: other\n"),
              "requests 2.31.0");
    EXPECT_EQ(python("name:a\r\nVERSION: \t1 \r\n"), "a 1");
}

TEST(PackageMetadata, WhatStandsInPythonsDescriptionIsNotBelieved) {
    EXPECT_EQ(python("Metadata-Version: 2.1\n\nName: requests\nVersion: 2.31.0\n"), "nothing");
    EXPECT_EQ(python("Name: a\nVersion: 1\nName: b\nVersion: 2\n"), "a 1");
}

TEST(PackageMetadata, NpmsMembersAreThoseOfTheOutermostObject) {
    EXPECT_EQ(npm(R"({"name":"left-pad","version":"1.3.0"})"), "left-pad 1.3.0");
    EXPECT_EQ(
        npm(R"({"a":{"name":"x","version":"9"},"b":[{"version":"8"},"}"],"version":"1","name":"@s\/n"})"),
        "@s/n 1");
    EXPECT_EQ(npm(R"( {"c":true,"d":-1.5e3,"e":null, "name" : "n" , "version" : "2" )"), "n 2");
}

TEST(PackageMetadata, BrokenManifestsNameNothing) {
    for (const char* text :
         {"", "{", "[]", R"({"name":"a"})", R"({"name":1,"version":"1"})", R"({"name":"a)", R"({"name" "a"})",
          R"({"name":"a b","version":"1"})", R"({"name":"\u0061","version":"1"})", R"({"x":[[[)"}) {
        EXPECT_EQ(npm(text), "nothing") << text;
    }
}

TEST(PackageMetadata, NamesThatAreNoneAreNotTakenOver) {
    EXPECT_EQ(npm("{\"name\":\"a\x1b[2J\",\"version\":\"1\"}"), "nothing");
    EXPECT_EQ(npm(R"({"name":"a\nb","version":"1"})"), "nothing");
    EXPECT_EQ(npm("{\"name\":\"" + std::string(300, 'a') + "\",\"version\":\"1\"}"), "nothing");
    EXPECT_EQ(python("Name: a\tb\nVersion: 1\n"), "nothing");
}

TEST(PackageMetadata, DpkgsListIsOfWhatIsInstalled) {
    std::vector<NameAndVersion> all;
    read_dpkg_status(
        "Package: curl\nStatus: install ok installed\nVersion: 1:7.88-10\nDescription: a\n Version: 2\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n"
        "Package: last\nVersion: 3\nStatus: install ok installed",
        [&](NameAndVersion each) { all.push_back(std::move(each)); });
    EXPECT_EQ(all, (std::vector<NameAndVersion>{{"curl", "1:7.88-10"}, {"last", "3"}}));
}

}  // namespace
}  // namespace oyat::packages
