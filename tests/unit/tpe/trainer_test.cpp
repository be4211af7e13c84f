#include "tpe/trainer.h"

#include <gtest/gtest.h>

#include "naive.h"
#include "tpe/merger.h"

namespace teller::tpe {
namespace {

using testing::Sequence;

constexpr Id kA = kSpecialCount, kB = kA + 1, kC = kA + 2;

std::vector<Merge> learnt(const std::vector<Sequence>& sequences, int alphabet, int merges) {
  return learn_merges(testing::to_cells(sequences),
                      static_cast<std::uint32_t>(kSpecialCount + alphabet),
                      static_cast<std::uint32_t>(merges))
      .merges;
}

TEST(Trainer, MergesTheMostFrequentPairFirst) {
  EXPECT_EQ(learnt({{kA, kB, kC, kA, kB}}, 3, 5), (std::vector<Merge>{{kA, kB}}));
}

TEST(Trainer, ATieGoesToTheSmallerPair) {
  EXPECT_EQ(learnt({{kB, kC, kA}, {kB, kC, kA}}, 3, 1), (std::vector<Merge>{{kB, kC}}));
  EXPECT_EQ(learnt({{kC, kA, kB}, {kC, kA, kB}}, 3, 1), (std::vector<Merge>{{kA, kB}}));
}

TEST(Trainer, RunsOfOneSymbolCountWithoutOverlaps) {
  EXPECT_TRUE(learnt({{kA, kA, kA}}, 1, 5).empty());
  // (a, a) twice, (b, c) three times.
  EXPECT_EQ(learnt({{kA, kA, kA, kA, kA}, {kB, kC, kB, kC, kB, kC}}, 3, 1),
            (std::vector<Merge>{{kB, kC}}));
}

TEST(Trainer, NoPairCrossesASequence) {
  EXPECT_TRUE(learnt({{kA}, {kB}, {kA}, {kB}}, 2, 5).empty());
}

TEST(Trainer, SpecialsAreNeverMerged) {
  EXPECT_TRUE(learnt({{kA, kGhost, kA, kGhost}}, 2, 5).empty());
}

TEST(Trainer, EmptyCorporaHaveNoMerges) {
  EXPECT_TRUE(learnt({}, 2, 5).empty());
  EXPECT_TRUE(learnt({{}, {}}, 2, 5).empty());
}

TEST(Trainer, EqualsTheNaiveTrainer) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const int alphabet = 1 + static_cast<int>(random() % 6);
    std::vector<Sequence> sequences = testing::random_sequences(random, alphabet);
    const Cells cells = testing::to_cells(sequences);
    std::size_t before = 0, after = 0;
    for (const Sequence& s : sequences) before += s.size();
    const auto first = static_cast<Id>(kSpecialCount + alphabet);
    const std::vector<Merge> expected = testing::learn(sequences, first, 25);
    for (const Sequence& s : sequences) after += s.size();
    const Learnt got = learn_merges(cells, first, 25);
    ASSERT_EQ(got.merges, expected) << "round " << round;
    ASSERT_EQ(got.joined, before - after) << "round " << round;
  }
}

TEST(Merger, SegmentsAsTrainingDid) {
  std::mt19937 random(8);
  for (int round = 0; round < 2000; ++round) {
    const int alphabet = 1 + static_cast<int>(random() % 6);
    std::vector<Sequence> sequences = testing::random_sequences(random, alphabet);
    const std::vector<Sequence> plain = sequences;
    const auto first = static_cast<Id>(kSpecialCount + alphabet);
    const Vocabulary vocabulary =
        testing::vocabulary_of(alphabet, testing::learn(sequences, first, 25));
    Merger merger(vocabulary);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      Cells cells = testing::to_cells({plain[i]});
      merger.merge(cells);
      Sequence ids;
      merger.collect(cells, ids);
      ASSERT_EQ(ids, sequences[i]) << "round " << round;
      auto decoded = decode(vocabulary, ids);
      ASSERT_TRUE(decoded) << decoded.error().message;
      ASSERT_EQ(*decoded, plain[i]);
    }
  }
}

TEST(Merger, TextsUnseenInTrainingAreMergedInTheOrderOfTheMerges) {
  std::mt19937 random(9);
  for (int round = 0; round < 2000; ++round) {
    const int alphabet = 1 + static_cast<int>(random() % 5);
    std::vector<Sequence> training = testing::random_sequences(random, alphabet);
    const auto first = static_cast<Id>(kSpecialCount + alphabet);
    const Vocabulary vocabulary =
        testing::vocabulary_of(alphabet, testing::learn(training, first, 25));
    Merger merger(vocabulary);
    for (Sequence& s : testing::random_sequences(random, alphabet)) {
      Cells cells = testing::to_cells({s});
      merger.merge(cells);
      Sequence ids;
      merger.collect(cells, ids);
      Id next = first;
      for (const Merge& merge : vocabulary.merges) s = testing::replace(s, merge, next++);
      ASSERT_EQ(ids, s) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace teller::tpe
