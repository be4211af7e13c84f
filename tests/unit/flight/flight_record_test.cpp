#include "run_folder/flight_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

TEST(FlightRecord, ReadsTheEntriesOfEachVersion) {
  std::string why;
  const auto now = read_flight_entry(
      Json::parse(R"({"record_id": 7, "pg_id": 2, "process_group": ["43", "PIPELINE"],
        "collective_seq_id": 26, "p2p_seq_id": 3, "op_id": 9, "is_p2p": true,
        "profiling_name": "nccl:send 0->3", "time_created_ns": 100, "state": "started",
        "time_discovered_started_ns": 120, "time_discovered_completed_ns": null,
        "input_sizes": [[4, 5]], "input_dtypes": ["Float"],
        "frames": [{"name": "f", "filename": "a.py", "line": 3}]})"),
      why);
  ASSERT_TRUE(now) << why;
  EXPECT_EQ(now->group, "43");
  EXPECT_EQ(now->description, "PIPELINE");
  EXPECT_EQ(now->seq, 26);
  EXPECT_TRUE(now->p2p);
  EXPECT_EQ(now->started_ns, 120);
  EXPECT_FALSE(now->completed_ns);
  EXPECT_EQ(now->inputs[0][1], 5);
  EXPECT_EQ(now->frames[0], "f a.py:3");

  // The first version: one name, one sequence. Zero in JSON is a time that is not there.
  const auto old = read_flight_entry(
      Json::parse(R"({"pg_name": "0", "seq_id": 4, "profiling_name": "nccl:all_reduce",
        "time_created_ns": 5, "state": "completed", "time_discovered_completed_ns": 0})"),
      why);
  ASSERT_TRUE(old) << why;
  EXPECT_EQ(old->seq, 4);
  EXPECT_FALSE(old->completed_ns);
  EXPECT_FALSE(old->p2p);
}

TEST(FlightRecord, SaysWhatAnEntryLacks) {
  const auto why_of = [](const char* text) {
    std::string why;
    EXPECT_FALSE(read_flight_entry(Json::parse(text), why)) << text;
    return why;
  };
  EXPECT_EQ(why_of("3"), "it is no dict");
  EXPECT_EQ(why_of("{}"), "it has no profiling_name");
  EXPECT_EQ(why_of(R"({"profiling_name": "nccl:x"})"), "it has no process_group");
  EXPECT_EQ(why_of(R"({"profiling_name": "nccl:x", "process_group": [3, 4]})"),
            "it has no process_group");
  EXPECT_EQ(why_of(R"({"profiling_name": "nccl:x", "process_group": ["0", ""],
                       "time_created_ns": "soon"})"),
            "it has no time_created_ns");
  EXPECT_EQ(why_of(R"({"profiling_name": "nccl:x", "process_group": ["0", ""],
                       "time_created_ns": 4, "state": 3})"),
            "it has no state");
}

TEST(FlightRecord, ReadsWhatNamesTell) {
  const auto send = flight_peers("nccl:send 0->3");
  ASSERT_TRUE(send);
  EXPECT_TRUE(send->send);
  EXPECT_EQ(send->self, 0);
  EXPECT_EQ(send->other, 3);
  const auto receive = flight_peers("nccl:recv 3<-0");
  ASSERT_TRUE(receive);
  EXPECT_FALSE(receive->send);
  EXPECT_EQ(receive->self, 3);
  for (const char* name : {"nccl:all_reduce", "nccl:send", "nccl:send 0", "nccl:send a->b",
                           "nccl:recv 1->0", "nccl:send -1->2", "nccl:send 99999999999->2", ""}) {
    EXPECT_FALSE(flight_peers(name)) << name;
  }
  EXPECT_EQ(flight_operation("nccl:_all_gather_base"), "all_gather");
  EXPECT_EQ(flight_operation("nccl:send 0->3"), "send");
  EXPECT_EQ(flight_operation("all_reduce"), "all_reduce");
}

TEST(FlightRecord, ReadsListsOfRanks) {
  EXPECT_EQ(flight_ranks(Json("[0, 12,3]")), (std::vector<int>{0, 12, 3}));
  EXPECT_EQ(flight_ranks(Json::parse("[4, 5]")), (std::vector<int>{4, 5}));
  EXPECT_EQ(flight_ranks(Json("[]")), std::vector<int>());
  for (const char* text : {"", "[", "0, 1", "[0, x]", "[-1]", "[0, 99999999999999]", "[1,,2]"}) {
    EXPECT_FALSE(flight_ranks(Json(text))) << text;
  }
  EXPECT_FALSE(flight_ranks(Json(7)));
}

TEST(FlightRecord, VersionsThatAreNotKnownAreSaid) {
  for (const char* known : {"2.0", "2.4", "2.9", "2.10"}) {
    EXPECT_EQ(flight_version_note(known), "") << known;
  }
  EXPECT_NE(flight_version_note("9.9").find("9.9, newer than"), std::string::npos);
  EXPECT_NE(flight_version_note("2.11").find("newer than"), std::string::npos);
  EXPECT_NE(flight_version_note("1.5").find("older than"), std::string::npos);
  for (const nlohmann::ordered_json& odd :
       {nlohmann::ordered_json("new"), nlohmann::ordered_json(2.9), nlohmann::ordered_json("2."),
        nlohmann::ordered_json(std::string(100'000, '9'))}) {
    const std::string note = flight_version_note(odd);
    EXPECT_FALSE(odd.is_string() && note.empty());
    EXPECT_LT(note.size(), 200u);
  }
  EXPECT_NE(flight_version_note(nullptr).find("does not state"), std::string::npos);
}

}  // namespace
}  // namespace teller
