#include "importers/kineto_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>

#include "importers/kineto_event.h"

namespace teller {
namespace {

// Notes what the reader finds, as text.
class NotingSink : public KinetoSink {
 public:
  Result<bool> event(std::string_view text) override {
    KinetoEvent event;
    const bool good = parser_.parse(text, event) == KinetoEventParser::Outcome::kGood;
    found.push_back(good ? std::string(event.name) : "?");
    return good;
  }
  void lost(std::uint64_t count) override { lost_count += count; }
  void member(std::string_view key, std::string_view value) override {
    found.push_back(std::string(key) + "=" + std::string(value));
  }
  Status piece_done() override { return {}; }

  std::vector<std::string> found;
  std::uint64_t lost_count = 0;

 private:
  KinetoEventParser parser_;
};

class KinetoReaderTest : public testing::Test {
 protected:
  KinetoReaderTest() : path_(testing::TempDir() + "reader_" + std::to_string(getpid())) {}
  ~KinetoReaderTest() override { std::remove(path_.c_str()); }

  Result<KinetoEnd> read(const std::string& text, KinetoLimits limits = {},
                         InputOptions options = {}) {
    std::ofstream(path_, std::ios::binary) << text;
    auto input = InputStream::open(path_, options);
    return KinetoReader(**input, sink_, limits).read();
  }

  std::string path_;
  NotingSink sink_;
};

TEST_F(KinetoReaderTest, OrderOfMembersIsFree) {
  const auto end = read(R"({"a":1,"traceEvents":[{"name":"e"}],"b":{"c":[]},"d":"x\"y"})");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->truncated_reason, "");
  EXPECT_EQ(sink_.found, (std::vector<std::string>{"a=1", "e", "b={\"c\":[]}", "d=\"x\\\"y\""}));
}

TEST_F(KinetoReaderTest, LargeEventsAreSkippedNotKept) {
  const std::string large = R"({"name":"large","args":")" + std::string(3 << 20, 'x') + "\"}";
  KinetoLimits limits;
  limits.event_bytes = 1 << 20;
  const auto end = read("[{\"name\":\"a\"}," + large + ",{\"name\":\"b\"}]", limits);
  ASSERT_TRUE(end);
  EXPECT_EQ(sink_.found, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sink_.lost_count, 1u);
}

TEST_F(KinetoReaderTest, LargeMembersAreRefused) {
  KinetoLimits limits;
  limits.member_bytes = 1 << 20;
  const auto end = read("{\"huge\":\"" + std::string(8 << 20, 'x') + "\"}", limits);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnsupported);
}

TEST_F(KinetoReaderTest, AnEndlessEventDoesNotSwallowTheRest) {
  std::string text = R"([{"ph":"X","name":"open \")";  // the quote that should end it is escaped
  for (int i = 0; i < 20000; ++i) text += ",\n{\"ph\":\"X\",\"name\":\"event\"}";
  const auto end = read(text + "]");
  ASSERT_TRUE(end);
  EXPECT_EQ(sink_.found.size(), 20000u);
  EXPECT_EQ(sink_.lost_count +
                static_cast<std::uint64_t>(std::count(sink_.found.begin(), sink_.found.end(), "?")),
            1u);
}

TEST_F(KinetoReaderTest, SaysWhereTextStops) {
  EXPECT_NE(read(R"({"traceEvents":[{"name":"a"},{"na)")->truncated_reason, "");
  EXPECT_NE(read(R"({"traceEvents":[{"name":"a"}])")->truncated_reason, "");
  EXPECT_NE(read(R"({"traceEvents":[{"name":"a"}],"b":{)")->truncated_reason, "");
  EXPECT_EQ(read(R"({"traceEvents":[{"name":"a"}]})")->truncated_reason, "");
}

// What arrives right before the input ends is looked at, however little it is.
TEST_F(KinetoReaderTest, LargeMembersAreFoundWhereverPiecesEnd) {
  for (std::size_t size :
       {std::size_t{1} << 20, std::size_t{3} << 19, (std::size_t{2} << 20) - 20}) {
    sink_.found.clear();
    const std::string large = "\"" + std::string(size, 'x') + "\"";
    const auto end = read("{\"traceEvents\":[{\"name\":\"e\"}],\"big\":" + large + "}");
    ASSERT_TRUE(end);
    EXPECT_EQ(end->truncated_reason, "") << size;
    EXPECT_EQ(sink_.found, (std::vector<std::string>{"e", "big=" + large})) << size;
  }
}

TEST_F(KinetoReaderTest, PiecesOfAnySizeReadAlike) {
  const std::string text = "\xEF\xBB\xBF {\"a\":1, \"long key \\\" here\" : \"" +
                           std::string(100, 'y') +
                           "\" ,\"traceEvents\" : [ {\"name\":\"e1\",\"args\":{\"x\":[1,{}]}}, 7 "
                           ",\n{\"name\":\"e2\"} ] ,"
                           "\"b\":{\"c\":[\"]\"]},\"d\":-1.5e3,\"e\":null } \n";
  ASSERT_TRUE(read(text));
  const std::vector<std::string> expected = sink_.found;
  ASSERT_EQ(expected.size(), 7u);
  for (std::size_t piece = 1; piece <= text.size() + 1; ++piece) {
    sink_.found.clear();
    sink_.lost_count = 0;
    const auto end = read(text, {}, {.piece_bytes = piece});
    ASSERT_TRUE(end) << piece;
    EXPECT_EQ(end->truncated_reason, "") << piece;
    EXPECT_EQ(sink_.found, expected) << piece;
    EXPECT_EQ(sink_.lost_count, 1u) << piece;
  }
}

TEST_F(KinetoReaderTest, StopsWhileNothingArrives) {
  const std::atomic<bool> stop{true};
  const auto end = read(std::string(1 << 20, ' '), {}, {.stop = &stop});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace teller
