#include "api/e2b/entry_json.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace oyat::e2b {
namespace {

using core::FileEntry;
using core::FileType;

FileEntry entry(FileType type, std::uint32_t mode) {
    FileEntry entry;
    entry.path = "/home/user/a.txt";
    entry.type = type;
    entry.mode = mode;
    entry.owner = "user";
    entry.group = "1234";
    entry.size = 3;
    entry.mtime_ns = 1'796'032'923'114'999'999;
    return entry;
}

TEST(EntryJson, IsTheShapeThatClientsRead) {
    std::string json;
    append_entry(json, entry(FileType::file, 0100644));
    EXPECT_EQ(json,
              R"({"name":"a.txt","type":"FILE_TYPE_FILE","path":"/home/user/a.txt","size":"3","mode":420,)"
              R"("permissions":"-rw-r--r--","owner":"user","group":"1234",)"
              R"("modifiedTime":"2026-11-30T10:02:03.114Z"})");
}

TEST(EntryJson, ALinkIsShownAsWhatItLeadsTo) {
    FileEntry link = entry(FileType::symlink, 0120777);
    link.target_type = FileType::directory;
    link.target_mode = 040755;
    link.link_target = "/srv";
    std::string json;
    append_entry(json, link);
    EXPECT_NE(json.find(R"("type":"FILE_TYPE_DIRECTORY")"), std::string::npos);
    EXPECT_NE(json.find(R"("mode":493,"permissions":"Lrwxrwxrwx")"), std::string::npos);
    EXPECT_NE(json.find(R"("symlinkTarget":"/srv")"), std::string::npos);

    link.target_type = FileType::unknown;  // dangling
    json.clear();
    append_entry(json, link);
    EXPECT_NE(json.find("FILE_TYPE_UNSPECIFIED"), std::string::npos);
}

TEST(EntryJson, MetadataIsThereOnlyWhenThereIsSome) {
    FileEntry file = entry(FileType::file, 0644);
    std::string json;
    append_written(json, file);
    EXPECT_EQ(json, R"({"name":"a.txt","path":"/home/user/a.txt","type":"file"})");
    file.metadata = {{"a", "1"}, {"b", "\"2\""}};
    json.clear();
    append_written(json, file);
    EXPECT_EQ(json,
              R"({"name":"a.txt","path":"/home/user/a.txt","type":"file","metadata":{"a":"1","b":"\"2\""}})");
}

TEST(EntryJson, NamesThatAreNoTextStayValidJson) {
    FileEntry file = entry(FileType::file, 0644);
    file.path = "/a/\xFF\n{";
    std::string json;
    append_written(json, file);
    EXPECT_EQ(json, "{\"name\":\"\xEF\xBF\xBD\\n{\",\"path\":\"/a/\xEF\xBF\xBD\\n{\",\"type\":\"file\"}");
}

TEST(PermissionText, HasThePrefixesOfThePublishedAgent) {
    EXPECT_EQ(permission_text(entry(FileType::directory, 040755)), "drwxr-xr-x");
    EXPECT_EQ(permission_text(entry(FileType::directory, 041777)), "dtrwxrwxrwx");
    EXPECT_EQ(permission_text(entry(FileType::file, 0104755)), "urwxr-xr-x");
    EXPECT_EQ(permission_text(entry(FileType::char_device, 020666)), "Dcrw-rw-rw-");
    EXPECT_EQ(permission_text(entry(FileType::fifo, 010600)), "prw-------");
    EXPECT_EQ(permission_text(entry(FileType::socket, 0140700)), "Srwx------");
}

}  // namespace
}  // namespace oyat::e2b
