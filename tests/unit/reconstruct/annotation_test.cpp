#include "reconstruct/annotation.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(Annotation, ReadsVllmNames) {
  const auto decode = parse_annotation(
      "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)");
  EXPECT_EQ(decode.tokens, 32);
  EXPECT_EQ(decode.seqs, 32);
  EXPECT_EQ(decode.context, 55086 - 32);
  const auto prefill = parse_annotation("execute_context_1(888_788544)_generation_0(0)");
  EXPECT_EQ(prefill.tokens, 888);
  EXPECT_EQ(prefill.seqs, 1);
  EXPECT_EQ(prefill.context, -1);
}

TEST(Annotation, ReadsSglangAndProfilerNames) {
  const auto extend = parse_annotation("step[EXTEND bs=15 toks=15360]");
  EXPECT_EQ(extend.tokens, 15360);
  EXPECT_EQ(extend.seqs, 15);
  EXPECT_EQ(parse_annotation("step[DECODE bs=32]").tokens, 32);
  EXPECT_EQ(parse_annotation("ProfilerStep#6").number, 6);
}

TEST(Annotation, RefusesOthersAndHugeNumbers) {
  EXPECT_FALSE(is_step_annotation("execute_model"));
  EXPECT_FALSE(is_step_annotation("steps"));
  EXPECT_FALSE(is_step_annotation("aten::add"));
  EXPECT_EQ(parse_annotation("ProfilerStep#99999999999999999999999").number, -1);
  EXPECT_EQ(parse_annotation("execute_context_(_generation_").tokens, -1);
}

}  // namespace
}  // namespace teller
