#include "run_folder/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "temp_dir.h"

namespace teller {
namespace {

void put(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(RunFolder, RemembersArtefactsAndTheirSources) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  put(run->file("raw"), "raw");
  put(run->file("made"), "made");
  ASSERT_TRUE(run->publish({"events", {"raw"}, "test", 3, {}, "{}"}));
  ASSERT_TRUE(run->publish({"chains", {"made"}, "test", 3, {"events"}, R"({"x":1})"}));
  ASSERT_TRUE(run->save());
  auto again = RunFolder::open(dir.file("run"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->artifact_files("events"), std::vector<std::string>{"raw"});
  EXPECT_TRUE(again->require_artifact("chains"));
}

TEST(RunFolder, AnArtefactWhoseSourceChangedIsStale) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  put(run->file("raw"), "raw");
  put(run->file("made"), "made");
  ASSERT_TRUE(run->publish({"events", {"raw"}, "test", 3, {}, "{}"}));
  ASSERT_TRUE(run->publish({"chains", {"made"}, "test", 3, {"events"}, "{}"}));
  put(run->file("raw"), "other");
  ASSERT_TRUE(run->publish({"events", {"raw"}, "test", 3, {}, "{}"}));
  auto chains = run->require_artifact("chains");
  ASSERT_FALSE(chains);
  EXPECT_EQ(chains.error().code, ErrorCode::kStale);
  EXPECT_EQ(chains.error().hint, "run teller reconstruct RUN again");
}

TEST(RunFolder, NamesTheCommandThatMakesWhatIsMissing) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->require_artifact("chains").error().hint, "first run teller reconstruct RUN");
}

TEST(RunFolder, NeverReplacesWhatIsNotARun) {
  TempDir dir;
  put(dir.file("precious"), "data");
  EXPECT_FALSE(RunFolder::create(dir.path(), "test", true));
  EXPECT_TRUE(std::filesystem::exists(dir.file("precious")));
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  EXPECT_FALSE(RunFolder::create(dir.file("run"), "test", false));
  EXPECT_TRUE(RunFolder::create(dir.file("run"), "test", true));
}

TEST(RunFolder, PathsThatLeaveTheFolderAreIgnored) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  for (const char* path : {"../secret", "/etc/passwd", "a/../../b", ""}) {
    run->manifest()["artifacts"]["events"]["files"] =
        nlohmann::ordered_json::array({{{"path", path}}});
    EXPECT_TRUE(run->artifact_files("events").empty()) << path;
  }
}

TEST(RunFolder, LinksThatLeaveTheFolderAreIgnored) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  std::filesystem::create_directories(dir.file("elsewhere"));
  put(dir.file("elsewhere/secret.jsonl"), "{}");
  std::filesystem::create_symlink("../elsewhere", run->file("link"));
  std::filesystem::create_symlink("../elsewhere/secret.jsonl", run->file("logs.jsonl"));
  for (const char* path : {"link/secret.jsonl", "logs.jsonl", "."}) {
    run->manifest()["artifacts"]["logs"]["files"] =
        nlohmann::ordered_json::array({{{"path", path}}});
    EXPECT_TRUE(run->artifact_files("logs").empty()) << path;
  }
}

TEST(RunFolder, ManifestsOfEveryWrongShapeAreRefused) {
  TempDir dir;
  std::filesystem::create_directories(dir.file("run"));
  for (const char* text :
       {"", "x", "[]", "{}", R"({"format":"teller.run"})", R"({"format":3,"schema":"1.0"})",
        R"({"format":"teller.run","schema":1})", R"({"format":"teller.run","schema":"2.0"})",
        R"({"format":"teller.run","schema":"1.0","artifacts":[]})"}) {
    put(dir.file("run/manifest.json"), text);
    EXPECT_FALSE(RunFolder::open(dir.file("run"))) << text;
  }
  put(dir.file("run/manifest.json"),
      R"({"format":"teller.run","schema":"1.7","artifacts":{"events":3}})");
  auto run = RunFolder::open(dir.file("run"));
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->artifact_files("events").empty());
}

}  // namespace
}  // namespace teller
