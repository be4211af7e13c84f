#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "run_folder/open_chains.h"
#include "run_folder/tokens.h"
#include "run_maker.h"
#include "slice_maker.h"
#include "tpe/tpe.h"
#include "tpe/units.h"
#include "tpe/vocabulary.h"

namespace teller {
namespace {

// A run with slices and a vocabulary made from it.
class Encode : public ::testing::Test {
 protected:
  void SetUp() override {
    teller::testing::RunOptions options;
    options.requests = 6;
    ASSERT_TRUE(teller::testing::make_run(path(), options));
    auto run = RunFolder::open(path());
    ASSERT_TRUE(run);
    auto chains = open_chains(*run);
    ASSERT_TRUE(chains) << chains.error().message;
    chains_ = std::move(*chains);
    std::mt19937 random(3);
    ASSERT_TRUE(
        teller::testing::add_slices(path(), teller::testing::random_slices(chains_, random, 7)));
    options_.vocabulary = dir_.file("tpe.json");
    train(64);
  }

  std::string path() const { return dir_.file("run"); }

  void train(std::uint32_t vocab_size) {
    TpeTrainOptions train;
    train.vocab_size = vocab_size;
    auto done = tpe_train({path()}, options_.vocabulary, train);
    ASSERT_TRUE(done) << done.error().message;
    trained_ = *done;
  }

  // Encodes, and maps slices and tokens.
  void encode_now() {
    auto run = RunFolder::open(path());
    ASSERT_TRUE(run);
    auto summary = encode(*run, options_);
    ASSERT_TRUE(summary) << summary.error().message;
    summary_ = *summary;
    auto slices = open_slices(*run, chains_);
    ASSERT_TRUE(slices) << slices.error().message;
    slices_ = std::move(*slices);
    auto tokens = open_tokens(*run, chains_);
    ASSERT_TRUE(tokens) << tokens.error().message;
    tokens_ = std::move(*tokens);
  }

  std::vector<tpe::UnitNode> nodes_of(std::uint32_t unit) const {
    return options_.whole_step ? tpe::whole_nodes(chains_, slices_, unit)
                               : tpe::slice_nodes(slices_, unit);
  }

  std::int64_t duration(const tpe::UnitNode& node) const {
    return node.is_ghost() ? 0
                           : chains_.nodes.end_ns[node.node] - chains_.nodes.begin_ns[node.node];
  }

  // Everything that must hold of the tokens of a unit.
  void check_unit(std::uint32_t unit, const tpe::Vocabulary& vocabulary) const;

  TempDir dir_;
  Chains chains_;
  Slices slices_;
  Tokens tokens_;
  EncodeOptions options_;
  EncodeSummary summary_;
  TpeTrainSummary trained_;
};

void Encode::check_unit(std::uint32_t unit, const tpe::Vocabulary& vocabulary) const {
  const std::vector<tpe::UnitNode> nodes = nodes_of(unit);
  const std::uint32_t first = tokens_.units.first_token[unit];
  const std::uint32_t end = first + tokens_.units.token_count[unit];
  std::vector<tpe::Id> ids;
  std::vector<std::uint32_t> token_of;
  for (std::uint32_t t = first; t < end; ++t) {
    ids.push_back(static_cast<tpe::Id>(tokens_.tokens.id[t]));
    token_of.insert(token_of.end(), tokens_.tokens.node_count[t], t);
  }
  ASSERT_EQ(token_of.size(), nodes.size());  // the map covers every node once
  auto symbols = tpe::decode(vocabulary, ids);
  ASSERT_TRUE(symbols);
  ASSERT_EQ(symbols->size(), nodes.size());
  for (std::uint32_t t = first; t < end; ++t) {
    const std::size_t at =
        static_cast<std::size_t>(std::find(token_of.begin(), token_of.end(), t) - token_of.begin());
    std::int64_t sum = 0;
    float largest = 0;
    for (std::size_t i = at; i < at + tokens_.tokens.node_count[t]; ++i) {
      const std::uint32_t mapped =
          tokens_.tokens.first_node[t] + static_cast<std::uint32_t>(i - at);
      EXPECT_EQ(tokens_.token_nodes.node[mapped], nodes[i].node);
      EXPECT_EQ(tokens_.token_nodes.ghost[mapped], nodes[i].is_ghost() ? 1 : 0);
      EXPECT_EQ(nodes[i].rank, tokens_.tokens.rank[t]);  // no token spans two ranks
      sum += duration(nodes[i]);
      if (nodes[i].slice != kNoIndex) {
        largest = std::max(largest, std::fabs(slices_.nodes.features[nodes[i].slice][kZSelf]));
      }
    }
    EXPECT_EQ(tokens_.tokens.duration_ns[t], sum);
    EXPECT_EQ(std::fabs(tokens_.tokens.features[t][kZSelf]), largest);
    EXPECT_EQ(tokens_.tokens.depth[t], nodes[at].depth);
    const std::uint32_t parent = nodes[at].parent;
    EXPECT_EQ(tokens_.tokens.parent[t], parent == kNoIndex ? kNoIndex : token_of[parent]);
  }
}

TEST_F(Encode, TokensLeadBackToEveryNode) {
  for (const bool protect : {true, false}) {
    for (const bool whole_step : {true, false}) {
      options_.protect = protect;
      options_.whole_step = whole_step;
      encode_now();
      auto vocabulary = tpe::read_vocabulary(options_.vocabulary);
      ASSERT_TRUE(vocabulary);
      EXPECT_GT(vocabulary->merges.size(), 10u);
      ASSERT_EQ(tokens_.unit_count(), slices_.unit_count());
      for (std::uint32_t unit = 0; unit < tokens_.unit_count(); ++unit) {
        check_unit(unit, *vocabulary);
      }
      EXPECT_LT(summary_.views[0].tokens, summary_.views[0].symbols);
    }
  }
}

TEST_F(Encode, PlainEncodingEqualsTheSegmentationOfTraining) {
  options_.protect = false;
  encode_now();
  EXPECT_EQ(summary_.views[0].tokens + summary_.views[1].tokens, trained_.tokens);
  EXPECT_EQ(summary_.views[0].symbols + summary_.views[1].symbols, trained_.symbols_read);
  EXPECT_EQ(summary_.views[0].unknown, 0u);
  EXPECT_EQ(summary_.views[0].protected_tokens, 0u);
}

TEST_F(Encode, WhatMattersStaysSingle) {
  for (const bool whole_step : {true, false}) {
    options_.whole_step = whole_step;
    encode_now();
    std::uint32_t token = 0;
    for (std::uint32_t unit = 0; unit < tokens_.unit_count(); ++unit) {
      const std::vector<tpe::UnitNode> nodes = nodes_of(unit);
      std::set<std::size_t> single;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool row = (chains_.nodes.flags[nodes[i].node] & kNodeRow) != 0;
        if (row) single.insert(i);
        if ((nodes[i].slice_flags & (kSliceSuspicious | kSliceGhost)) == 0) continue;
        for (std::uint32_t up = static_cast<std::uint32_t>(i); up != kNoIndex;
             up = nodes[up].parent) {
          single.insert(up);
        }
      }
      std::size_t seen = 0;
      for (std::size_t i = 0; i < nodes.size(); i += tokens_.tokens.node_count[token++]) {
        const bool is_protected = (tokens_.tokens.flags[token] & kTokenProtected) != 0;
        EXPECT_EQ(is_protected, single.count(i) == 1);
        if (is_protected) {
          ++seen;
          EXPECT_EQ(tokens_.tokens.node_count[token], 1u);
        }
      }
      EXPECT_EQ(seen, single.size());
      EXPECT_EQ(seen, tokens_.units.protected_tokens[unit]);
    }
  }
}

TEST_F(Encode, EdgesLeadFromTokenToTokenOnce) {
  options_.protect = false;
  encode_now();
  ASSERT_GT(tokens_.edges.from.size(), 0u);
  for (std::uint32_t unit = 0; unit < tokens_.unit_count(); ++unit) {
    std::vector<std::uint32_t> token_of;
    const std::uint32_t first = tokens_.units.first_token[unit];
    for (std::uint32_t t = first; t < first + tokens_.units.token_count[unit]; ++t) {
      token_of.insert(token_of.end(), tokens_.tokens.node_count[t], t);
    }
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>> expected;
    const std::uint32_t first_node = slices_.units.first_node[unit];
    for (std::uint32_t i = 0; i < slices_.units.edge_count[unit]; ++i) {
      const std::uint32_t e = slices_.units.first_edge[unit] + i;
      const std::uint32_t from = token_of[slices_.edges.from[e] - first_node];
      const std::uint32_t to = token_of[slices_.edges.to[e] - first_node];
      if (from != to) expected.insert({from, to, slices_.edges.kind[e]});
    }
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>> got;
    for (std::uint32_t i = 0; i < tokens_.units.edge_count[unit]; ++i) {
      const std::uint32_t e = tokens_.units.first_edge[unit] + i;
      got.emplace_back(tokens_.edges.from[e], tokens_.edges.to[e], tokens_.edges.kind[e]);
    }
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
  }
}

TEST_F(Encode, SelfTimesAddUpToNoMoreThanInclusiveOnes) {
  options_.whole_step = true;
  encode_now();
  std::vector<std::int64_t> inclusive(tokens_.tokens.duration_ns.begin(),
                                      tokens_.tokens.duration_ns.end());
  options_.self_time = true;
  encode_now();
  ASSERT_EQ(tokens_.token_count(), inclusive.size());
  bool less = false;
  for (std::size_t t = 0; t < inclusive.size(); ++t) {
    EXPECT_GE(tokens_.tokens.duration_ns[t], 0);
    EXPECT_LE(tokens_.tokens.duration_ns[t], inclusive[t]);
    less = less || tokens_.tokens.duration_ns[t] < inclusive[t];
  }
  EXPECT_TRUE(less);
}

TEST_F(Encode, AtMostHalfOfAVocabularyAreSymbols) {
  train(20);
  auto vocabulary = tpe::read_vocabulary(options_.vocabulary);
  ASSERT_TRUE(vocabulary);
  EXPECT_EQ(vocabulary->symbols.size(), 10u);
  EXPECT_EQ(vocabulary->size(), 20u);
  EXPECT_GT(trained_.distinct, 4u);
  encode_now();
  EXPECT_GT(summary_.views[0].others, 0u);
  EXPECT_EQ(summary_.views[0].unknown, 0u);
}

TEST_F(Encode, TheSameRunGivesTheSameBytes) {
  encode_now();
  const std::string vocabulary = *sha256_file(options_.vocabulary);
  const std::string tokens = *sha256_file(path() + "/tokens.tcol");
  train(64);
  encode_now();
  EXPECT_EQ(*sha256_file(options_.vocabulary), vocabulary);
  EXPECT_EQ(*sha256_file(path() + "/tokens.tcol"), tokens);
  EXPECT_EQ(summary_.vocabulary_sha256, vocabulary);
}

TEST_F(Encode, AVocabularyOfPlainSequencesIsRefused) {
  ASSERT_TRUE(write_file_atomic(dir_.file("plain.txt"), "a b a b\n"));
  ASSERT_TRUE(tpe_train_symbols(dir_.file("plain.txt"), options_.vocabulary, {}));
  auto run = RunFolder::open(path());
  ASSERT_TRUE(run);
  auto summary = encode(*run, options_);
  ASSERT_FALSE(summary);
  EXPECT_NE(summary.error().message.find("plain sequences"), std::string::npos);
}

TEST_F(Encode, TokensAreStaleOnceTheSlicesChange) {
  encode_now();
  std::mt19937 random(4);
  ASSERT_TRUE(
      teller::testing::add_slices(path(), teller::testing::random_slices(chains_, random, 5)));
  auto run = RunFolder::open(path());
  ASSERT_TRUE(run);
  auto tokens = open_tokens(*run, chains_);
  ASSERT_FALSE(tokens);
  EXPECT_EQ(tokens.error().code, ErrorCode::kStale);
}

}  // namespace
}  // namespace teller
