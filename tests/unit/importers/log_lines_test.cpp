#include "importers/log_lines.h"

#include <gtest/gtest.h>

#include <fstream>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "importers/log_writer.h"

namespace teller {
namespace {

class LogLinesTest : public testing::Test {
 protected:
  Result<LogFileRead> read(const std::string& text, const LogLimits& limits = {}) {
    std::ofstream(path_, std::ios::binary) << text;
    lines_.clear();
    continued_.clear();
    const auto use = [this](LogLine& line) {
      lines_.push_back(line.text);
      if (line.cont) continued_.push_back(lines_.size() - 1);
      return Status();
    };
    return read_log_file(path_, "a.log", nullptr, use, limits);
  }

  TempDir folder_;
  std::string path_ = folder_.file("a.log");
  std::vector<std::string> lines_;
  std::vector<std::size_t> continued_;  // of them, which go on with the one before
};

TEST_F(LogLinesTest, LinesOfAnyLength) {
  const std::string longest(3u << 20, 'x');
  ASSERT_TRUE(read("a\n\n b \r\n" + longest + "\nlast").ok());
  ASSERT_GE(lines_.size(), 4U);
  EXPECT_EQ(lines_[0], "a");
  EXPECT_EQ(lines_[1], " b");
  EXPECT_EQ(lines_.back(), "last");
  std::size_t bytes = 0;
  for (const std::string& line : lines_) bytes += line.size();
  EXPECT_EQ(bytes, 1 + 2 + longest.size() + 4);
}

TEST_F(LogLinesTest, FurtherPiecesOfALineAreMarked) {
  const std::string piece(kLongestLogLine, 'x');
  using Places = std::vector<std::size_t>;
  ASSERT_TRUE(read("a\n" + piece + piece + "yy\nb\n").ok());
  EXPECT_EQ(lines_, (std::vector<std::string>{"a", piece, piece, "yy", "b"}));
  EXPECT_EQ(continued_, (Places{2, 3}));
  // A line that is as long as a piece is one, with and without its end.
  for (const char* end : {"\n", ""}) {
    ASSERT_TRUE(read(piece + end).ok());
    EXPECT_EQ(lines_, (std::vector<std::string>{piece}));
    EXPECT_EQ(continued_, Places{});
    ASSERT_TRUE(read(piece + "z" + end).ok());
    EXPECT_EQ(lines_, (std::vector<std::string>{piece, "z"}));
    EXPECT_EQ(continued_, Places{1});
  }
  // No character is torn.
  const std::string euros(kLongestLogLine - 1, 'x');
  ASSERT_TRUE(read(euros + "\u20ac\u20ac\n").ok());
  EXPECT_EQ(lines_, (std::vector<std::string>{euros, "\u20ac\u20ac"}));
}

TEST_F(LogLinesTest, ThePieceOfALineSaysSoInJson) {
  LogLine line;
  line.text = "rest";
  line.cont = true;
  EXPECT_EQ(log_line_json(line), "{\"t\":null,\"stream\":\"\",\"text\":\"rest\",\"cont\":1}\n");
}

TEST_F(LogLinesTest, WhatIsLargerThanItsFileAllowsIsRefused) {
  LogLimits limits;
  limits.times = limits.lines_per_byte = 0;
  limits.always_bytes = 6;
  limits.always_lines = 3;
  EXPECT_TRUE(read("a\nb\nc\n", limits).ok());
  const auto longer = read("a\nb\nccc", limits);
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(longer.error().message.find("it inflates to more than"), std::string::npos);
  limits.always_bytes = 100;
  const auto more = read("a\nb\nc\nd\n", limits);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(more.error().message.find("it has more lines than"), std::string::npos);
}

TEST_F(LogLinesTest, WhatIsTakenBackIsGone) {
  for (const std::size_t size : {std::size_t{3}, std::size_t{700'000}}) {
    const std::string path = folder_.file(std::to_string(size));
    LogLine line;
    line.text = std::string(size, 'x');
    LogWriter writer(path);
    ASSERT_TRUE(writer.add(line).ok());
    const LogWriter::Mark mark = writer.mark();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.add(line).ok());
    ASSERT_TRUE(writer.take_back(mark).ok());
    line.text = "after";
    ASSERT_TRUE(writer.add(line).ok());
    ASSERT_TRUE(writer.flush().ok());
    EXPECT_EQ(writer.lines(), 2U);
    const std::string text = read_file(path, "log", 1u << 24).value();
    LogLine first;
    first.text = std::string(size, 'x');
    EXPECT_EQ(text, log_line_json(first) + log_line_json(line));
  }
}

}  // namespace
}  // namespace teller
