#include "layers/template_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "layers/test_templates.hpp"

namespace oyat::layers {
namespace {

class TemplateNamesTest : public TemplatesTest {
protected:
    // "name=content" of each entry of the list, where content is how the test calls a digest.
    [[nodiscard]] std::vector<std::string> listed() const {
        std::vector<std::string> all;
        for (const TemplateMeta& each : templates_->list()) {
            all.push_back(each.name + "=" + (each.digest == first_ ? "first" : "second"));
        }
        std::ranges::sort(all);
        return all;
    }
    void import_first(const std::string& name) { first_ = import_file("1", name); }
    void import_second(const std::string& name) { import_file("2", name); }

private:
    std::string import_file(const std::string& content, const std::string& name) {
        return or_throw(import(tar({{.path = "a", .content = content}}), name)).digest;
    }
    std::string first_;
};

using Names = std::vector<std::string>;

TEST_F(TemplateNamesTest, ADigestMayHaveSeveralNames) {
    import_first("base");
    import_first("other");
    EXPECT_EQ(listed(), (Names{"base=first", "other=first"}));
    EXPECT_EQ(templates_->find("other")->name, "other");
}

TEST_F(TemplateNamesTest, ANameStandsForTheLatestImport) {
    import_first("base");
    import_second("base");
    EXPECT_EQ(listed(), (Names{"=first", "base=second"}));
    import_first("base");
    EXPECT_EQ(listed(), (Names{"=second", "base=first"}));
}

TEST_F(TemplateNamesTest, ARemovedTemplateTakesAllItsNamesAlong) {
    import_first("base");
    import_first("other");
    import_second("new");
    templates_->remove(templates_->find("base")->digest);
    EXPECT_EQ(listed(), Names{"new=second"});
    EXPECT_FALSE(templates_->find("other"));
}

TEST_F(TemplateNamesTest, WhatACrashLeftOfAChangeIsNoName) {
    import_first("base");
    std::ofstream{dir_ + "/templates/names/base.new"} << "sha256:00";
    std::ofstream{dir_ + "/templates/names/gone"} << "sha256:" << std::string(64, '0');
    templates_.emplace(dir_ + "/templates");
    EXPECT_EQ(listed(), Names{"base=first"});
    import_second("base");
    EXPECT_EQ(listed(), (Names{"=first", "base=second"}));
}

// A full disk, say. The template is then not there without its name either.
TEST_F(TemplateNamesTest, AnImportThatCanNotBeNamedLeavesNothing) {
    std::filesystem::create_directories(dir_ + "/templates/names/base/in-the-way");
    EXPECT_FALSE(import(tar(kTree), "base"));
    std::filesystem::remove_all(dir_ + "/templates/names/base");
    EXPECT_TRUE(templates_->list().empty());
}

}  // namespace
}  // namespace oyat::layers
