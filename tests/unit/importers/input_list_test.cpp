#include <gtest/gtest.h>

#include "importers/content_signs.h"
#include "importers/natural_order.h"

namespace teller {
namespace {

TEST(InputList, NaturalOrder) {
  EXPECT_TRUE(natural_less("rank2.json", "rank10.json"));
  EXPECT_FALSE(natural_less("rank10.json", "rank2.json"));
  EXPECT_TRUE(natural_less("a", "a0"));
  EXPECT_TRUE(natural_less("a01b", "a1c"));
  EXPECT_TRUE(natural_less("a01", "a1"));  // equal numbers: by bytes
  EXPECT_FALSE(natural_less("a1", "a1"));
  // Numbers of any length, without overflow.
  EXPECT_TRUE(natural_less("x99999999999999999999999", "x100000000000000000000000"));
}

TEST(ContentSigns, Dialects) {
  const std::pair<const char*, JsonDialect> heads[] = {
      {R"({"schemaVersion":1,"traceEvents":[]})", JsonDialect::kKineto},
      {"\xef\xbb\xbf [ {\"ph\":\"X\"}]", JsonDialect::kKineto},
      {R"({"long":{"a":[1,2)", JsonDialect::kNone},
      {R"({"cut":"quote,"traceEvents":[)", JsonDialect::kKineto},
      {R"({"a":{"traceEvents":[]}})", JsonDialect::kNone},
      {R"({"a":1})", JsonDialect::kNone},
      {R"({"a":"nodes","nodes":[]})", JsonDialect::kExecutionTrace},
      {R"({"resource_logs":[]})", JsonDialect::kOtlp},
      // The first key that tells decides; what lies deeper, or is no key, does not.
      {R"({"x":{"nodes":[]},"y":["resourceSpans"],"traceEvents":[{"nodes":1}]})",
       JsonDialect::kKineto},
      {R"({"x":"\"nodes\":[","resourceSpans":[]})", JsonDialect::kOtlp},
      {R"([{"nodes":[]}])", JsonDialect::kNone},
      {"{", JsonDialect::kNone},
      {"{\"", JsonDialect::kNone},
      {"]]", JsonDialect::kNone},
      {"{\"a\":\"\\", JsonDialect::kNone},
      {"[1, 2]", JsonDialect::kNone},
      {"", JsonDialect::kNone},
      {"traceEvents", JsonDialect::kNone}};
  for (const auto& [head, dialect] : heads) EXPECT_EQ(json_dialect(head), dialect) << head;
}

TEST(ContentSigns, NoTar) {
  EXPECT_FALSE(is_tar(""));
  EXPECT_FALSE(is_tar(std::string(512, '\0')));
  EXPECT_FALSE(is_tar(std::string(1024, 'a')));
}

}  // namespace
}  // namespace teller
