#include "run_folder/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

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

TEST(RunFolder, TwoWritersKeepEachOthersChanges) {
  TempDir dir;
  auto first = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(first);
  first->manifest()["target"] = {{"pid", 1}};
  first->manifest()["gone"] = true;
  ASSERT_TRUE(first->save());
  put(first->file("raw"), "raw");
  put(first->file("made"), "made");
  auto second = RunFolder::open(dir.file("run"));
  ASSERT_TRUE(second);
  ASSERT_TRUE(second->publish({"chains", {"made"}, "test", 3, {}, "{}"}));
  second->manifest()["of_second"] = 2;
  ASSERT_TRUE(second->save());
  // The first has never seen what the second wrote.
  ASSERT_TRUE(first->publish({"events", {"raw"}, "test", 3, {}, "{}"}));
  first->manifest()["target"]["end"] = 5;
  first->manifest().erase("gone");
  first->set_state("sealed");
  ASSERT_TRUE(first->save());
  EXPECT_TRUE(first->require_artifact("chains"));
  second->manifest()["of_second"] = 3;
  ASSERT_TRUE(second->save());
  auto run = RunFolder::open(dir.file("run"));
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->require_artifact("chains"));
  EXPECT_TRUE(run->require_artifact("events"));
  EXPECT_EQ(run->manifest()["state"], "sealed");
  EXPECT_EQ(run->manifest()["of_second"], 3);
  EXPECT_EQ(run->manifest()["target"], nlohmann::ordered_json({{"pid", 1}, {"end", 5}}));
  EXPECT_FALSE(run->manifest().contains("gone"));
}

TEST(RunFolder, AnArtefactThatIsPublishedAgainReplacesAnothersInTheMeantime) {
  TempDir dir;
  auto first = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(first);
  put(first->file("made"), "one");
  ASSERT_TRUE(first->publish({"chains", {"made"}, "test", 1, {}, "{}"}));
  ASSERT_TRUE(first->save());
  auto second = RunFolder::open(dir.file("run"));
  put(first->file("made"), "two");
  ASSERT_TRUE(second->publish({"chains", {"made"}, "test", 2, {}, "{}"}));
  ASSERT_TRUE(second->save());
  put(first->file("made"), "one");
  ASSERT_TRUE(first->publish({"chains", {"made"}, "test", 1, {}, "{}"}));
  ASSERT_TRUE(first->save());
  EXPECT_EQ(RunFolder::open(dir.file("run"))->manifest()["artifacts"]["chains"]["records"], 1);
}

TEST(RunFolder, ManyWritersAtOnceLoseNothingAndLeaveNothing) {
  TempDir dir;
  ASSERT_TRUE(RunFolder::create(dir.file("run"), "test", false));
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 10; ++i) {
        auto run = RunFolder::open(dir.file("run"));
        run->manifest()["key " + std::to_string(writer) + " " + std::to_string(i)] = i;
        EXPECT_TRUE(run->save());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(RunFolder::open(dir.file("run"))->manifest().size(), 6u + 40u);
  const std::filesystem::directory_iterator files(dir.file("run"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(RunFolder, AnArtefactWithoutFilesIsThere) {
  TempDir dir;
  auto run = RunFolder::create(dir.file("run"), "test", false);
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->require_artifact("events"));
  ASSERT_TRUE(run->publish({"events", {}, "test", 0, {}, "{}"}));
  const auto events = run->require_artifact("events");
  ASSERT_TRUE(events);
  EXPECT_TRUE(events->empty());
  // What a dead recorder leaves of a program without events.
  auto dead = RunFolder::create(dir.file("dead"), "test", false);
  ASSERT_TRUE(dead);
  std::filesystem::create_directory(dead->file("events"));
  EXPECT_TRUE(dead->require_artifact("events"));
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
    EXPECT_FALSE(run->check_listed("logs")) << path;
    EXPECT_EQ(run->require_artifact("logs").error().code, ErrorCode::kCorrupt) << path;
  }
  for (const char* entry : {"3", "{}", R"({"files":3})", R"({"files":[3]})", R"({"files":[{}]})"}) {
    run->manifest()["artifacts"]["logs"] = nlohmann::ordered_json::parse(entry);
    EXPECT_FALSE(run->check_listed("logs")) << entry;
  }
  run->manifest()["artifacts"]["logs"] = nlohmann::ordered_json::parse(R"({"files":[]})");
  EXPECT_TRUE(run->check_listed("logs"));
  run->manifest()["artifacts"].erase("logs");
  EXPECT_FALSE(run->check_listed("logs"));  // the link is still there
  EXPECT_TRUE(run->check_listed("chains"));
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
