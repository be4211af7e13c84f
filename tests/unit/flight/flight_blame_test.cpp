// Jobs of two to eight ranks, made entry by entry, and who is to blame for how they stand.
#include "horizontal/flight_blame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace teller::flight {
namespace {

std::vector<int> up_to(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Dumps of a job with one group of all ranks, and what is added.
class Scenario {
 public:
  explicit Scenario(int count) {
    dumps_.resize(static_cast<std::size_t>(count));
    for (int rank = 0; rank < count; ++rank) {
      dumps_[static_cast<std::size_t>(rank)].rank = rank;
      dumps_[static_cast<std::size_t>(rank)].source = "dump" + std::to_string(rank);
    }
    group("0", up_to(count));
  }

  void group(const std::string& name, const std::vector<int>& ranks) {
    for (const int rank : ranks) dump(rank).config[name] = {"group " + name, ranks};
  }

  Dump& dump(int rank) { return dumps_[static_cast<std::size_t>(rank)]; }

  FlightEntry& add(int rank, const std::string& group, std::int64_t seq, const std::string& name,
                   const std::string& state = "scheduled") {
    FlightEntry entry;
    std::vector<FlightEntry>& entries = dump(rank).entries;
    entry.record_id = static_cast<std::int64_t>(entries.size());
    entry.group = group;
    entry.pg_id = 100 + static_cast<std::int64_t>(std::stoi(group));
    entry.name = "nccl:" + name;
    entry.p2p = flight_peers(entry.name).has_value() || name == "coalesced";
    entry.seq = entry.p2p ? 0 : seq;
    entry.p2p_seq = entry.p2p ? seq : 0;
    entry.created_ns = 1000 + 10 * entry.record_id + rank;
    entry.state_text = state;
    entry.state = state == "completed" ? FlightState::kCompleted
                  : state == "started" ? FlightState::kStarted
                                       : FlightState::kScheduled;
    entry.inputs = {{4, 2}};
    entry.outputs = {{4, 2}};
    entry.input_types = entry.output_types = {"Float"};
    entries.push_back(entry);
    return entries.back();
  }

  void add_all(const std::vector<int>& ranks, const std::string& group, std::int64_t seq,
               const std::string& name, const std::string& state = "scheduled") {
    for (const int rank : ranks) add(rank, group, seq, name, state);
  }

  void remove(int rank) {
    std::erase_if(dumps_, [&](const Dump& one) { return one.rank == rank; });
  }

  Blame blame() {
    job_ = make_job(dumps_);
    positions_ = find_positions(job_);
    return find_blame(job_, positions_, WaitGraph(positions_));
  }

  std::vector<int> culprits() {
    const Blame found = blame();
    std::vector<int> ranks;
    for (const Suspect& suspect : found.suspects) {
      ranks.push_back(job_.nodes[suspect.node].rank.value_or(-1));
    }
    return ranks;
  }

  std::vector<Dump> dumps_;
  Job job_;
  std::vector<Position> positions_;
};

using Ranks = std::vector<int>;

class EachSize : public testing::TestWithParam<int> {};

TEST_P(EachSize, ACompletedJobHasNoCulprit) {
  Scenario job(GetParam());
  for (int seq = 1; seq < 4; ++seq)
    job.add_all(up_to(GetParam()), "0", seq, "all_reduce", "completed");
  const Blame blame = job.blame();
  EXPECT_EQ(blame.verdict, "healthy");
  EXPECT_TRUE(blame.suspects.empty());
}

TEST_P(EachSize, AllInOnePlaceHasNoCulprit) {
  for (const char* state : {"scheduled", "started"}) {
    Scenario job(GetParam());
    job.add_all(up_to(GetParam()), "0", 1, "all_reduce", "completed");
    job.add_all(up_to(GetParam()), "0", 2, "all_reduce", state);
    const Blame blame = job.blame();
    EXPECT_EQ(blame.verdict, "all_in_one_place");
    EXPECT_TRUE(blame.suspects.empty());
  }
}

TEST_P(EachSize, TheRankThatDidNotComeIsNamed) {
  for (int late = 0; late < GetParam(); ++late) {
    Scenario job(GetParam());
    job.add_all(up_to(GetParam()), "0", 1, "all_reduce", "completed");
    for (const int rank : up_to(GetParam())) {
      if (rank != late) job.add(rank, "0", 2, "all_reduce", "started");
    }
    EXPECT_EQ(job.culprits(), Ranks{late});
    EXPECT_EQ(job.blame().verdict, "rank_behind");
  }
}

TEST_P(EachSize, TheRankWithoutADumpIsNamed) {
  for (int absent = 0; absent < GetParam(); ++absent) {
    Scenario job(GetParam());
    job.add_all(up_to(GetParam()), "0", 2, "all_reduce");
    job.remove(absent);
    EXPECT_EQ(job.culprits(), Ranks{absent});
    EXPECT_EQ(job.blame().verdict, "rank_absent");
    EXPECT_EQ(job.job_.ranks_without_dump, Ranks{absent});
  }
}

TEST_P(EachSize, TheRankThatDoesNotCompleteWhatItsPeersHaveIsNamed) {
  Scenario job(GetParam());
  for (const int rank : up_to(GetParam())) {
    job.add(rank, "0", 1, "all_reduce", rank == 1 ? "scheduled" : "completed");
    job.add(rank, "0", 2, "all_reduce");
  }
  const Blame blame = job.blame();
  EXPECT_EQ(blame.verdict, "rank_stuck");
  EXPECT_EQ(job.culprits(), Ranks{1});
}

TEST_P(EachSize, TheRankThatDidNotStartIsNamed) {
  Scenario job(GetParam());
  for (const int rank : up_to(GetParam())) {
    job.add(rank, "0", 1, "all_reduce", rank == 1 ? "scheduled" : "started");
  }
  EXPECT_EQ(job.culprits(), Ranks{1});
  EXPECT_EQ(job.blame().verdict, "rank_not_started");
}

INSTANTIATE_TEST_SUITE_P(Jobs, EachSize, testing::Values(2, 3, 4, 5, 8));

TEST(FlightBlame, StatusTellsOfRanksWhoseEntriesAreGone) {
  // Only what is active was dumped: rank 2 completed all it enqueued, and rank 1 came to the next.
  Scenario job(3);
  for (const int rank : up_to(3)) job.dump(rank).status[100] = {rank == 2 ? 6 : 7, 6};
  job.add(0, "0", 7, "all_reduce");
  job.add(1, "0", 7, "all_reduce");
  EXPECT_EQ(job.culprits(), Ranks{2});
  // Had it enqueued the seventh, and its entry been overwritten, nobody would be missing.
  job.dump(2).status[100] = {7, 6};
  EXPECT_TRUE(job.culprits().empty());
  // Had it completed the seventh, it would be the others that are stuck.
  job.dump(2).status[100] = {7, 7};
  EXPECT_EQ(job.culprits(), (Ranks{0, 1}));
  EXPECT_EQ(job.blame().verdict, "rank_stuck");
}

TEST(FlightBlame, StatusOfAGroupWithSendsIsNotReadAsCollectives) {
  // last_enqueued of group 0 counts sends on rank 2.
  Scenario job(3);
  for (const int rank : up_to(3)) job.dump(rank).status[100] = {rank == 2 ? 90 : 7, 6};
  job.add(0, "0", 7, "all_reduce");
  job.add(1, "0", 7, "all_reduce");
  job.add(2, "0", 90, "send 2->0", "completed");
  EXPECT_EQ(job.culprits(), Ranks{2});
}

// A rank of a group with transfers: its entry `number` of either kind states both counts.
FlightEntry& add_counted(Scenario& job, int rank, std::int64_t seq, std::int64_t p2p,
                         const std::string& name, const std::string& state = "scheduled") {
  FlightEntry& entry = job.add(rank, "0", seq, name, state);
  entry.seq = seq;
  entry.p2p_seq = p2p;
  return entry;
}

TEST(FlightBlame, StatusOfAGroupWithSendsTellsOfTheLastWork) {
  // Entries of what is completed are gone on rank 2. A status of a transfer: seven collectives.
  Scenario job(3);
  add_counted(job, 0, 7, 4, "all_reduce");
  add_counted(job, 1, 7, 5, "all_reduce");
  add_counted(job, 2, 6, 9, "recv 2<-1", "completed");
  job.dump(2).status[100] = {9, 9};
  EXPECT_EQ(job.culprits(), Ranks{2});
  // The number is beyond its transfers' and its collectives': the seventh collective was enqueued
  // after the transfer, and is completed or was overwritten.
  Scenario came(3);
  add_counted(came, 0, 7, 4, "all_reduce");
  add_counted(came, 1, 7, 5, "all_reduce");
  add_counted(came, 2, 6, 9, "recv 2<-1", "completed");
  came.dump(2).status[100] = {7, 9};
  EXPECT_TRUE(came.culprits().empty());
  EXPECT_EQ(came.blame().verdict, "all_in_one_place");
  EXPECT_EQ(came.job_.nodes[2].progress.at(0).enqueued, 7);
}

TEST(FlightBlame, EqualNumbersOfTwoKindsAreNotOneWork) {
  // Rank 1 has enqueued collective 8, and completed transfer 8: collective 7 is open.
  Scenario job(2);
  add_counted(job, 0, 7, 0, "all_reduce");
  add_counted(job, 1, 6, 8, "send 1->0", "completed");
  add_counted(job, 1, 7, 8, "all_reduce");
  add_counted(job, 1, 8, 8, "all_reduce");
  job.dump(1).status[100] = {8, 8};
  job.blame();
  EXPECT_EQ(job.job_.nodes[1].progress.at(0).completed, -1);
}

TEST(FlightBlame, StatusOfAGroupWithSendsMayHaveMoreCompleted) {
  Scenario job(2);
  for (const int rank : {0, 1}) {
    add_counted(job, rank, 2, 7, rank == 0 ? "send 0->1" : "recv 1<-0", "completed");
    add_counted(job, rank, 3, 7, "all_reduce", "completed");
    job.dump(rank).status[100] = {3, 7};
  }
  EXPECT_EQ(job.blame().verdict, "healthy");
  EXPECT_EQ(job.job_.status_contradictory, 0u);
  // Without any transfer it contradicts itself.
  Scenario plain(2);
  plain.add_all({0, 1}, "0", 3, "all_reduce", "completed");
  plain.dump(0).status[100] = {3, 7};
  plain.blame();
  EXPECT_EQ(plain.job_.status_contradictory, 1u);
}

TEST(FlightBlame, ADumpOfAnEarlierMomentNamesNobody) {
  for (const bool others_wait : {false, true}) {
    Scenario job(4);
    job.add_all(up_to(4), "0", 1, "all_reduce", "completed");
    job.add(1, "0", 2, "all_reduce");
    for (const int rank : {0, 2, 3}) {
      for (int seq = 2; seq < 5; ++seq) job.add(rank, "0", seq, "all_reduce", "completed");
      if (others_wait) job.add(rank, "0", 5, "all_reduce");
    }
    const Blame blame = job.blame();
    EXPECT_TRUE(blame.suspects.empty()) << blame.verdict;
    EXPECT_EQ(job.job_.nodes[1].outdated.seq, 4);
    EXPECT_EQ(job.job_.nodes[1].outdated.enqueued, 2);
    if (!others_wait) continue;
    EXPECT_EQ(blame.verdict, "unclear");
    // Who hangs since then is named all the same.
    job.dump(3).entries.pop_back();
    EXPECT_EQ(job.culprits(), Ranks{3});
  }
}

TEST(FlightBlame, WhatItsHostHadEnqueuedDoesNotExcuseARank) {
  // A device that failed completes nothing any more, by its own events: its peers went on.
  Scenario job(3);
  for (const int rank : up_to(3)) {
    for (int seq = 1; seq < 6; ++seq) {
      const bool done = seq == 1 || (rank != 2 && seq < 5);
      job.add(rank, "0", seq, "all_reduce", done ? "completed" : "scheduled");
    }
  }
  EXPECT_EQ(job.culprits(), Ranks{2});
  EXPECT_EQ(job.blame().verdict, "rank_stuck");
  // Nor does what need not have had all ranks: a broadcast, or what is not known for sure.
  Scenario rooted(3);
  rooted.add_all(up_to(3), "0", 1, "all_reduce", "completed");
  for (const int rank : {0, 1}) {
    rooted.add(rank, "0", 2, "broadcast", "completed");
    rooted.add(rank, "0", 3, "all_reduce");
  }
  EXPECT_EQ(rooted.culprits(), Ranks{2});
}

TEST(FlightBlame, AReceiveTellsOfItsSend) {
  // Rank 1 has received twice, and rank 0 shows one send: its dump is of an earlier moment.
  Scenario job(3);
  job.add(0, "0", 1, "send 0->1", "completed");
  job.add(1, "0", 1, "recv 1<-0", "completed");
  job.add(1, "0", 2, "recv 1<-0", "completed");
  job.add(1, "0", 3, "recv 1<-0");
  EXPECT_TRUE(job.culprits().empty());
  EXPECT_TRUE(job.job_.nodes[0].outdated.transfer);
  // A send that is open there, and was received, is stuck.
  Scenario stuck(3);
  stuck.add(0, "0", 1, "send 0->1");
  stuck.add(1, "0", 1, "recv 1<-0", "completed");
  EXPECT_EQ(stuck.culprits(), Ranks{0});
  EXPECT_EQ(stuck.blame().verdict, "rank_stuck");
  // A send that was completed before its receive is none that is missing.
  Scenario sent(2);
  sent.add(0, "0", 1, "send 0->1", "completed");
  sent.add(1, "0", 1, "recv 1<-0");
  EXPECT_TRUE(sent.culprits().empty());
}

TEST(FlightBlame, ADumpThatMayBeEarlierIsSaidToBe) {
  Scenario job(3);
  for (const int rank : up_to(3)) {
    job.add(rank, "0", 1, "all_reduce", "completed");
    job.add(rank, "0", 2, "all_reduce", rank == 1 ? "scheduled" : "completed").completed_ns =
        rank == 1 ? std::nullopt : std::optional<std::int64_t>(5000);
    if (rank != 1) job.add(rank, "0", 3, "all_reduce");
    if (rank != 1) job.add(rank, "0", 4, "all_reduce");
  }
  EXPECT_TRUE(job.blame().may_be_earlier);
  // Minutes later nothing is under way any more; and it may have lived on after its peers' end.
  job.dump(1).entries.back().retired = true;
  EXPECT_FALSE(job.blame().may_be_earlier);
  job.dump(1).entries.back().retired = false;
  job.dump(1).entries.back().created_ns = 6000;
  EXPECT_FALSE(job.blame().may_be_earlier);
  EXPECT_EQ(job.culprits(), Ranks{1});
}

// Rank 0 sent twice and stopped; rank 1 waits for the third.
Scenario stopped_sender() {
  Scenario job(3);
  for (int number = 1; number < 4; ++number) {
    if (number < 3) job.add(0, "0", number, "send 0->1", "completed");
    job.add(1, "0", number, "recv 1<-0", number < 3 ? "completed" : "started");
  }
  return job;
}

TEST(FlightBlame, ASenderThatDoesNotListItsGroupIsNamedAllTheSame) {
  // Another dump lists it.
  Scenario job = stopped_sender();
  job.dump(0).config["0"].ranks.clear();
  EXPECT_EQ(job.culprits(), Ranks{0});
  EXPECT_EQ(job.blame().verdict, "rank_behind");
  EXPECT_EQ(job.job_.groups.size(), 1u);
  EXPECT_FALSE(job.job_.nodes[0].is_outdated());
  // Two lists may be it: with whom it transferred is not known, and its dump is not called earlier.
  job.dump(2).config["0"].ranks = {0, 2};
  EXPECT_EQ(job.culprits(), Ranks{0});
  EXPECT_EQ(job.job_.groups.size(), 3u);
  EXPECT_FALSE(job.job_.nodes[0].transfers.has_value());
  // Nor where it has no transfer at all, nor anything of that group.
  job.dump(0).entries.clear();
  EXPECT_EQ(job.culprits(), Ranks{0});
  EXPECT_FALSE(job.job_.nodes[0].is_outdated());
  // A send that is open may be what rank 1 waits for.
  for (int number = 1; number < 4; ++number) {
    job.add(0, "0", number, "send 0->1", number < 3 ? "completed" : "scheduled");
  }
  EXPECT_EQ(job.blame().verdict, "unclear");
}

TEST(FlightBlame, AGroupWithoutAListIsThatOfTheDumpsThatListIt) {
  for (const bool is_named : {true, false}) {
    Scenario job(3);
    job.add_all(up_to(3), "0", 1, "all_reduce", "completed");
    job.add_all(up_to(3), "0", 2, "all_reduce");
    job.dump(1).config["0"].ranks.clear();
    if (!is_named) job.dump(1).config.clear();
    EXPECT_EQ(job.blame().verdict, "all_in_one_place");
    EXPECT_EQ(job.job_.groups.size(), 1u);
    EXPECT_EQ(job.job_.groups[0].description, "group 0");
  }
}

TEST(FlightBlame, TransfersMeetByTheirPlaceAndNotByWhatIsOpen) {
  // The first send is open on rank 0, and was received: the second one never was enqueued.
  Scenario job(2);
  job.add(0, "0", 1, "send 0->1", "started");
  job.add(1, "0", 1, "recv 1<-0", "completed");
  job.add(1, "0", 2, "recv 1<-0", "started");
  EXPECT_EQ(job.culprits(), Ranks{0});
  EXPECT_EQ(job.blame().verdict, "rank_stuck");
  EXPECT_EQ(job.positions_[1].standing, Standing::kWaits);
  ASSERT_EQ(job.positions_[1].waits->size(), 1u);
  EXPECT_EQ(job.positions_[1].waits->front().reason, WaitReason::kNotEnqueued);
  // It was, behind the first.
  job.add(0, "0", 2, "send 0->1");
  job.blame();
  ASSERT_EQ(job.positions_[1].waits->size(), 1u);
  EXPECT_EQ(job.positions_[1].waits->front().reason, WaitReason::kBehind);
}

TEST(FlightBlame, ASenderThatIsAwaitedMayHaveBeenDumpedEarlierToo) {
  for (const bool batched : {false, true}) {
    Scenario job(3);
    job.add_all(up_to(3), "0", 1, "all_reduce", "completed");
    job.add(0, "0", 1, "send 0->1", "started");
    const auto received = [&](const char* name) -> FlightEntry& {
      FlightEntry& entry = job.add(1, "0", 1, name, "completed");
      entry.completed_ns = 5000;
      return entry;
    };
    if (batched) {
      job.add(1, "0", 1, "recv 1<-0");
      received("coalesced");
    } else {
      received("recv 1<-0");
    }
    job.add(1, "0", 2, "recv 1<-0", "started");
    job.add(2, "0", 1, "recv 2<-1", "started");
    EXPECT_FALSE(job.blame().may_be_earlier);  // rank 1 is one ahead: it waits for that one
    job.add(1, "0", 3, "recv 1<-0");
    EXPECT_EQ(job.culprits(), Ranks{0});
    EXPECT_TRUE(job.blame().may_be_earlier);
    // It lived on after its peer's end.
    job.dump(0).entries.back().created_ns = 6000;
    EXPECT_FALSE(job.blame().may_be_earlier);
  }
}

TEST(FlightBlame, ADifferentCallIsNamed) {
  Scenario job(4);
  job.add_all({0, 1, 3}, "0", 1, "all_reduce");
  job.add(2, "0", 1, "_all_gather_base");
  EXPECT_EQ(job.culprits(), Ranks{2});
  EXPECT_EQ(job.blame().verdict, "mismatch");
}

TEST(FlightBlame, ADifferentSizeIsNamedButAShapeIsNot) {
  Scenario job(4);
  job.add_all(up_to(4), "0", 1, "all_reduce");
  job.dump(3).entries[0].inputs = {{2, 4}};
  EXPECT_EQ(job.blame().verdict, "all_in_one_place");
  job.dump(3).entries[0].inputs = {{2, 5}};
  EXPECT_EQ(job.culprits(), Ranks{3});
  job.dump(3).entries[0].inputs = {{2, 4}};
  job.dump(3).entries[0].input_types = {"Half"};
  EXPECT_EQ(job.culprits(), Ranks{3});
}

TEST(FlightBlame, SizesOfAllToAllMayDiffer) {
  Scenario job(3);
  job.add_all(up_to(3), "0", 1, "all_to_all");
  job.dump(1).entries[0].inputs = {{9}};
  EXPECT_EQ(job.blame().verdict, "all_in_one_place");
}

TEST(FlightBlame, TwoCallsWithoutAMajorityAreBothNamed) {
  Scenario job(2);
  job.add(0, "0", 1, "all_reduce");
  job.add(1, "0", 1, "broadcast");
  EXPECT_EQ(job.culprits(), (Ranks{0, 1}));
}

// Rank 3 waits for rank 2 in group 2, that for rank 1 in group 1, that for rank 0 in group 0.
TEST(FlightBlame, ChainsAcrossGroupsAreFollowedToTheirEnd) {
  Scenario job(8);
  job.group("1", {0, 1});
  job.group("2", {1, 2});
  job.group("3", {2, 3});
  job.add(3, "3", 1, "all_reduce");
  job.add(2, "2", 1, "all_reduce");
  job.add(1, "1", 1, "all_reduce");
  EXPECT_EQ(job.culprits(), Ranks{0});
  EXPECT_EQ(job.blame().suspects[0].waiters, 3u);
}

TEST(FlightBlame, WorkBehindOtherWorkLeadsToWhatThatWaitsFor) {
  // All have enqueued the collective of all, but ranks 1 and 2 behind one that rank 3 did not join.
  Scenario job(4);
  job.group("1", {1, 2, 3});
  job.add_all({1, 2}, "1", 1, "all_gather");
  job.add_all({0, 1, 2}, "0", 1, "all_reduce");
  EXPECT_EQ(job.culprits(), Ranks{3});
}

TEST(FlightBlame, OppositeOrdersAreADeadlock) {
  Scenario job(3);
  job.group("1", {0, 1});
  job.add(0, "0", 1, "all_reduce");
  job.add(0, "1", 1, "all_reduce");
  job.add(1, "1", 1, "all_reduce");
  job.add(1, "0", 1, "all_reduce");
  job.add(2, "0", 1, "all_reduce");
  EXPECT_EQ(job.blame().verdict, "deadlock");
  auto culprits = job.culprits();
  std::sort(culprits.begin(), culprits.end());
  EXPECT_EQ(culprits, (Ranks{0, 1}));
}

TEST(FlightBlame, ASendWithoutItsReceiveNamesTheReceiver) {
  Scenario job(4);
  job.group("1", {2, 3});
  job.add(2, "1", 1, "send 0->1");
  EXPECT_EQ(job.culprits(), Ranks{3});
  // The receive is there: both are in one place.
  job.add(3, "1", 1, "recv 1<-0");
  EXPECT_TRUE(job.culprits().empty());
  EXPECT_EQ(job.blame().link, (std::pair{2, 3}));
  // A second send has none.
  job.add(2, "1", 2, "send 0->1");
  EXPECT_EQ(job.blame().verdict, "all_in_one_place");
}

TEST(FlightBlame, AReceiveWithoutItsSendNamesTheSender) {
  Scenario job(4);
  job.group("1", {1, 3});
  job.add(3, "1", 1, "recv 1<-0");
  EXPECT_EQ(job.culprits(), Ranks{1});
}

// A pipeline of four stages: each waits for the one before it.
TEST(FlightBlame, APipelineLeadsToItsStuckStage) {
  Scenario job(4);
  job.add(3, "0", 1, "recv 3<-2");
  job.add(2, "0", 1, "recv 2<-1");
  job.add(1, "0", 1, "recv 1<-0");
  EXPECT_EQ(job.culprits(), Ranks{0});
}

TEST(FlightBlame, SendsOfABatchHaveTheStateOfTheirWrapper) {
  // Operations of a batch are never marked completed themselves.
  Scenario job(2);
  job.add(0, "0", 1, "send 0->1");
  job.add(0, "0", 1, "recv 0<-1");
  job.add(0, "0", 1, "coalesced", "completed");
  job.add(1, "0", 1, "recv 1<-0");
  job.add(1, "0", 1, "send 1->0");
  job.add(1, "0", 1, "coalesced", "completed");
  EXPECT_EQ(job.blame().verdict, "healthy");
  // A batch that only one of them launched.
  job.add(0, "0", 2, "send 0->1");
  job.add(0, "0", 2, "recv 0<-1");
  job.add(0, "0", 2, "coalesced");
  EXPECT_EQ(job.culprits(), Ranks{1});
}

TEST(FlightBlame, EachOperationOfABatchIsLookedAt) {
  // Rank 1 has received and sent what rank 0 wants of it; rank 2 has not come.
  Scenario job(3);
  job.add(0, "0", 1, "send 0->1");
  job.add(0, "0", 1, "recv 0<-2");
  job.add(0, "0", 1, "coalesced");
  job.add(1, "0", 1, "recv 1<-0");
  EXPECT_EQ(job.culprits(), Ranks{2});
}

TEST(FlightBlame, RanksThatAreStuckTogetherShareTheBlameInOrder) {
  // Ranks 1 and 2 are in one operation, the others wait for both; rank 2 enqueued less behind it.
  Scenario job(4);
  job.group("1", {1, 2});
  job.add_all({1, 2}, "1", 1, "all_gather");
  job.add_all(up_to(4), "0", 1, "all_reduce");
  EXPECT_EQ(job.blame().verdict, "stuck_together");
  EXPECT_EQ(job.culprits(), (Ranks{2, 1}));  // it came later
  job.add(2, "0", 2, "all_reduce");
  EXPECT_EQ(job.culprits(), (Ranks{1, 2}));
}

TEST(FlightBlame, TwoCulpritsShareTheBlame) {
  Scenario job(8);
  job.add_all({0, 1, 2, 4, 6, 7}, "0", 5, "all_reduce");
  EXPECT_EQ(job.culprits(), (Ranks{3, 5}));
  const Blame blame = job.blame();
  EXPECT_DOUBLE_EQ(blame.suspects[0].score, 0.5);
  EXPECT_DOUBLE_EQ(blame.suspects[0].score + blame.suspects[1].score, 1);
}

TEST(FlightBlame, TheOrderOfDumpsIsNothing) {
  Scenario job(5);
  job.add_all({0, 1, 2, 4}, "0", 5, "all_reduce");
  const Ranks before = job.culprits();
  std::reverse(job.dumps_.begin(), job.dumps_.end());
  EXPECT_EQ(job.culprits(), before);
  EXPECT_EQ(before, Ranks{3});
}

TEST(FlightBlame, TheNewerOfTwoDumpsOfARankCounts) {
  Scenario job(2);
  Dump old = job.dump(1);
  job.add_all({0, 1}, "0", 1, "all_reduce", "completed");
  job.dumps_.push_back(old);
  EXPECT_EQ(job.blame().verdict, "healthy");
  EXPECT_EQ(job.job_.dumps_superseded, 1u);
}

TEST(FlightBlame, DumpsOfUnknownRankAreStillCompared) {
  Scenario job(3);
  job.add_all({0, 1}, "0", 1, "all_reduce");
  for (Dump& dump : job.dumps_) dump.rank.reset();
  const Blame blame = job.blame();
  ASSERT_EQ(blame.suspects.size(), 1u);
  EXPECT_EQ(job.job_.nodes[blame.suspects[0].node].source, "dump2");
  EXPECT_TRUE(job.job_.ranks_without_dump.empty());
}

TEST(FlightBlame, GroupsOfOneNameAndOtherRanksAreTwo) {
  Scenario job(4);
  job.group("1", {0, 1});
  job.group("1", {2, 3});
  job.add_all({0, 1}, "1", 1, "all_reduce", "completed");
  job.add_all({2, 3}, "1", 1, "broadcast");
  EXPECT_EQ(job.blame().verdict, "all_in_one_place");
}

TEST(FlightBlame, NothingAtAllIsUnclear) {
  EXPECT_EQ(find_blame(make_job({}), {}, WaitGraph({})).verdict, "unclear");
  Scenario job(2);
  EXPECT_NE(job.blame().lacking_words.find("hold no operation"), std::string::npos);
}

TEST(FlightBlame, WithoutEntriesTheStatusSaysWhetherWorkIsOutstanding) {
  Scenario job(2);
  for (int rank = 0; rank < 2; ++rank) job.dump(rank).status[0] = {4, 4};
  EXPECT_EQ(job.blame().verdict, "healthy");
  job.dump(0).status[0] = {9, 4};
  const Blame blame = job.blame();
  EXPECT_EQ(blame.verdict, "unclear");
  EXPECT_NE(blame.lacking_words.find("rank 0 has enqueued 9 collectives of group 0"),
            std::string::npos)
      << blame.lacking_words;
  // Where no list names the group, it is outstanding all the same.
  job.dump(0).config.clear();
  EXPECT_EQ(job.blame().verdict, "unclear");
  // With entries of the group the status is the older of both.
  Scenario newer(2);
  newer.add_all({0, 1}, "0", 9, "all_reduce", "completed");
  newer.dump(0).status[100] = {9, 4};
  EXPECT_EQ(newer.blame().verdict, "healthy");
}

TEST(FlightBlame, WhatEndsInDoubtIsNotHealthy) {
  const auto spoil = [](FlightEntry& entry) { entry.contradiction = "it contradicts itself"; };
  Scenario job(2);
  for (int rank = 0; rank < 2; ++rank) spoil(job.add(rank, "0", 1, "all_reduce", "completed"));
  EXPECT_EQ(job.blame().verdict, "unclear");  // nothing but doubt
  job.add_all({0, 1}, "0", 2, "all_reduce", "completed");
  EXPECT_EQ(job.blame().verdict, "healthy");  // what came later was completed
  spoil(job.add(1, "0", 3, "all_reduce", "completed"));
  EXPECT_EQ(job.blame().verdict, "unclear");
}

TEST(FlightBlame, StatesThatAreNotKnownAreNotHealthy) {
  Scenario job(2);
  for (int rank = 0; rank < 2; ++rank) {
    job.add(rank, "0", 1, "all_reduce").state = FlightState::kUnknown;
  }
  EXPECT_EQ(job.blame().verdict, "unclear");
}

TEST(FlightBlame, AnEntryAtTheEndThatCannotBeReadIsNotHealthy) {
  Scenario job(2);
  job.add_all({0, 1}, "0", 1, "all_reduce", "completed");
  job.add_all({0, 1}, "0", 2, "all_reduce", "completed");
  job.dump(0).holes = {0};
  EXPECT_EQ(job.blame().verdict, "healthy");
  job.dump(0).holes = {2};
  EXPECT_EQ(job.blame().verdict, "unclear");
}

}  // namespace
}  // namespace teller::flight
