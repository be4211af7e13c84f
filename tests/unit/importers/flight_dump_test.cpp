#include "importers/flight_dump.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

Json dump_of(std::initializer_list<const char*> groups, const char* entries = "[]") {
  Json dump = {{"pg_config", Json::object()}, {"entries", Json::parse(entries)}};
  for (const char* ranks : groups) {
    const std::string name = std::to_string(dump["pg_config"].size());
    dump["pg_config"][name] = {{"name", name}, {"desc", ""}, {"ranks", ranks}};
  }
  return dump;
}

std::vector<FlightRank> resolve(const std::vector<std::pair<Json, const char*>>& dumps) {
  std::vector<FlightClue> clues;
  for (const auto& [dump, name] : dumps) clues.push_back(flight_clue(dump, name));
  return resolve_flight_ranks(clues);
}

TEST(FlightDump, TheGroupsOfADumpHaveItsRankInCommon) {
  const auto ranks = resolve({{dump_of({"[0, 1, 2, 3]", "[2, 3]", "[1, 3]"}), "dump_7"}});
  EXPECT_EQ(ranks[0].rank, 3);
  EXPECT_EQ(ranks[0].from, "content");
}

TEST(FlightDump, SendsAndReceivesNameTheRankWithinTheirGroup) {
  const char* entries =
      R"([{"profiling_name": "nccl:recv 1<-0", "process_group": ["1", ""], "state": "scheduled",
           "time_created_ns": 5}])";
  EXPECT_EQ(resolve({{dump_of({"[0, 1, 2, 3]", "[2, 3]"}, entries), "x"}})[0].rank, 3);
}

TEST(FlightDump, WhatOtherDumpsAreIsLeftOut) {
  const auto ranks = resolve({{dump_of({"[0, 1, 2]"}), "c"},
                              {dump_of({"[0, 1, 2]", "[1, 2]", "[2]"}), "a"},
                              {dump_of({"[0, 1, 2]", "[1, 2]"}), "b"}});
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].from, "other dumps");
  EXPECT_EQ(ranks[1].rank, 2);
  EXPECT_EQ(ranks[2].rank, 1);
}

TEST(FlightDump, TheFileNameIsAskedLastAndSaidSo) {
  const auto ranks =
      resolve({{dump_of({"[0, 1]"}), "nccl_trace_rank_1"}, {dump_of({"[0, 1]"}), "dump_0.json"}});
  EXPECT_EQ(ranks[0].rank, 1);
  EXPECT_EQ(ranks[0].from, "file name");
  EXPECT_EQ(ranks[1].rank, 0);
}

TEST(FlightDump, AFileNameThatCannotBeRightIsNotUsed) {
  EXPECT_FALSE(resolve({{dump_of({"[0, 1]"}), "dump_5"}})[0].rank);
  EXPECT_FALSE(resolve({{dump_of({"[0, 1]"}), "dump_99999999999999999999"}})[0].rank);
  // Two files of one number in two folders.
  const auto twice = resolve({{dump_of({"[0, 1]"}), "dump_0"}, {dump_of({"[0, 1]"}), "dump_0"}});
  EXPECT_FALSE(twice[0].rank || twice[1].rank);
  // One name contradicts what its dump holds: none is believed.
  const auto ranks = resolve({{dump_of({"[0, 1, 2, 3]", "[2]"}), "dump_0"},
                              {dump_of({"[0, 1, 2, 3]"}), "dump_1"},
                              {dump_of({"[0, 1, 2, 3]"}), "dump_3"}});
  EXPECT_EQ(ranks[0].rank, 2);
  EXPECT_FALSE(ranks[1].rank);
  EXPECT_EQ(ranks[1].from, "unknown");
}

TEST(FlightDump, MoreDumpsThanRanksAreOfSeveralMoments) {
  const Json dump = dump_of({"[0, 1]"});
  const auto ranks =
      resolve({{dump, "dump_0"}, {dump, "dump_1"}, {dump, "dump_0"}, {dump, "dump_1"}});
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_EQ(ranks[2].rank, 0);
  EXPECT_EQ(ranks[3].rank, 1);
  // Each host counts its own: nothing says which is which.
  const Json wide = dump_of({"[0, 1, 2, 3]"});
  const auto local = resolve(
      {{wide, "dump_0"}, {wide, "dump_1"}, {wide, "dump_0"}, {wide, "dump_1"}, {wide, "dump_0"}});
  EXPECT_FALSE(local[0].rank || local[1].rank || local[4].rank);
}

TEST(FlightDump, IsToldFromOtherJson) {
  EXPECT_TRUE(looks_like_flight_dump(R"( {"entries":[{"a")"));
  EXPECT_TRUE(looks_like_flight_dump(R"({ "nccl_version": "2.27.3")"));
  EXPECT_TRUE(looks_like_flight_dump(std::string_view("\x80\x02}", 3)));
  EXPECT_TRUE(
      looks_like_flight_dump("\xEF\xBB\xBF"
                             R"({"entries": [)"));
  EXPECT_FALSE(
      looks_like_flight_dump("\xEF\xBB\xBF"
                             "\x80\x02}"));
  EXPECT_FALSE(looks_like_flight_dump(R"({"schemaVersion": 1)"));
  EXPECT_FALSE(looks_like_flight_dump(R"({"traceEvents": [)"));
  EXPECT_FALSE(looks_like_flight_dump(R"([{"entries")"));
  EXPECT_FALSE(looks_like_flight_dump(""));
  EXPECT_FALSE(looks_like_flight_dump("{"));
}

}  // namespace
}  // namespace teller
