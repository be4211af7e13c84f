#include "run_folder/event_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/file.h"
#include "temp_dir.h"

namespace teller {
namespace {

EventRecord event_at(EventFileWriter& writer, std::int64_t begin, std::string_view name) {
  EventRecord event{};
  event.begin_ns = begin;
  event.end_ns = begin + 10;
  event.kind = static_cast<std::uint16_t>(EventKind::kRange);
  event.name = writer.intern(name);
  TrackRecord track{};
  track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
  track.pid = 1;
  track.tid = begin % 3;
  event.track = writer.track(track);
  return event;
}

// Writes `flushes` blocks of `per_flush` events each.
void write_file(const std::string& path, int flushes, int per_flush, bool finish) {
  auto writer = EventFileWriter::create(path, R"({"dialect":"test","a":1})");
  ASSERT_TRUE(writer) << writer.error().message;
  for (int flush = 0; flush < flushes; ++flush) {
    for (int i = 0; i < per_flush; ++i) {
      const int n = flush * per_flush + i;
      ASSERT_TRUE(writer->add(event_at(*writer, n, "name" + std::to_string(n))));
    }
    ASSERT_TRUE(writer->flush());
  }
  if (finish) {
    ASSERT_TRUE(writer->finish(R"({"a":2})"));
  }
}

std::vector<std::string> names_in(const EventFile& file) {
  std::vector<std::string> names;
  for (const auto& block : file.blocks()) {
    for (const EventRecord& event : block) names.emplace_back(file.string(event.name));
  }
  return names;
}

TEST(EventFile, GivesBackWhatWasWritten) {
  TempDir dir;
  write_file(dir.file("a.tev"), 3, 5, true);
  auto file = EventFile::open(dir.file("a.tev"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->damage().whole);
  EXPECT_EQ(file->event_count(), 15u);
  EXPECT_EQ(file->track_count(), 3u);
  EXPECT_EQ(file->meta_json(), R"({"dialect":"test","a":2})");
  const auto names = names_in(*file);
  ASSERT_EQ(names.size(), 15u);
  for (int n = 0; n < 15; ++n) EXPECT_EQ(names[n], "name" + std::to_string(n));
}

TEST(EventFile, AFileWithoutEndIsReadUpToItsLastFlush) {
  TempDir dir;
  write_file(dir.file("a.tev"), 2, 4, false);
  auto file = EventFile::open(dir.file("a.tev"));
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->damage().whole);
  EXPECT_EQ(file->event_count(), 8u);
  EXPECT_EQ(file->damage().reason,
            "the writer did not finish: everything up to its last flush is here");
}

// Every truncation gives either an error or a prefix of the events, and says that something is
// missing.
TEST(EventFile, EveryTruncationGivesAPrefix) {
  TempDir dir;
  write_file(dir.file("a.tev"), 3, 4, true);
  const std::string whole = *read_file(dir.file("a.tev"), "test", 1 << 20);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(dir.file("cut.tev"), std::ios::binary) << whole.substr(0, size);
    auto file = EventFile::open(dir.file("cut.tev"));
    if (!file) {
      EXPECT_LT(size, sizeof(FileHeader));
      continue;
    }
    EXPECT_FALSE(file->damage().whole) << size;
    const auto names = names_in(*file);
    for (std::size_t n = 0; n < names.size(); ++n) EXPECT_EQ(names[n], "name" + std::to_string(n));
  }
}

// One flipped byte never crashes, never invents a name, and is always noticed.
TEST(EventFile, EveryFlippedByteIsNoticed) {
  TempDir dir;
  write_file(dir.file("a.tev"), 3, 4, true);
  const std::string whole = *read_file(dir.file("a.tev"), "test", 1 << 20);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    std::ofstream(dir.file("bad.tev"), std::ios::binary) << flipped;
    auto file = EventFile::open(dir.file("bad.tev"));
    if (!file) continue;
    for (const std::string& name : names_in(*file)) {
      EXPECT_TRUE(name.empty() || name.starts_with("name")) << at << " " << name;
    }
    const bool in_header = at >= 10 && at < sizeof(FileHeader);
    const bool whole_again = file->damage().whole && file->event_count() == 12;
    // Padding and reserved bytes hold nothing; all others do.
    if (whole_again && !in_header) {
      EXPECT_EQ(whole[at], 0) << at;
    }
  }
}

TEST(EventFile, AMarkThatLiesAboutItsSizeIsNotBelieved) {
  TempDir dir;
  write_file(dir.file("a.tev"), 1, 4, false);
  std::string text = *read_file(dir.file("a.tev"), "test", 1 << 20);
  BlockHeader lie{kBlockMark, 2, 0, ~std::uint64_t{0} - 7, 0xffffffff, 0xffffffff, 0};
  text.append(reinterpret_cast<const char*>(&lie), sizeof lie);
  std::ofstream(dir.file("lie.tev"), std::ios::binary) << text;
  auto file = EventFile::open(dir.file("lie.tev"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->event_count(), 4u);
  EXPECT_EQ(file->damage().lost_bytes, sizeof lie);
}

// Texts that are not kept stand between those that are, over several blocks.
TEST(EventFile, AppendedTextsHaveIdsOfTheirOwn) {
  TempDir dir;
  auto writer = EventFileWriter::create(dir.file("a.tev"), "{}");
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->append_text(""), 0u);
  EXPECT_EQ(writer->intern(""), 0u);
  const StringId name = writer->intern("name");
  for (int i = 0; i < 6; ++i) {
    EventRecord event = event_at(*writer, i, i % 2 == 0 ? "name" : "odd");
    event.attrs = writer->append_text("{\"i\":" + std::to_string(i / 4) + "}");
    EXPECT_NE(event.attrs, writer->append_text("{}"));
    EXPECT_EQ(writer->intern("name"), name);
    ASSERT_TRUE(writer->add(event));
    if (i % 3 == 2) {
      ASSERT_TRUE(writer->flush());
    }
  }
  ASSERT_TRUE(writer->finish(""));
  auto file = EventFile::open(dir.file("a.tev"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->damage().whole) << file->damage().reason;
  EXPECT_EQ(file->string_count(), 15u);  // "", "name", "odd" and twelve that were appended
  int i = 0;
  for (const auto& block : file->blocks()) {
    for (const EventRecord& event : block) {
      EXPECT_EQ(file->string(event.name), i % 2 == 0 ? "name" : "odd");
      EXPECT_EQ(file->string(event.attrs), "{\"i\":" + std::to_string(i++ / 4) + "}");
    }
  }
  EXPECT_EQ(i, 6);
}

TEST(EventFile, LongTextsDoNotPileUp) {
  TempDir dir;
  auto writer = EventFileWriter::create(dir.file("a.tev"), "{}");
  ASSERT_TRUE(writer);
  for (int i = 0; i < 40; ++i) {
    EventRecord event = event_at(*writer, i, "name");
    event.attrs = writer->append_text(std::string(1 << 20, 'x'));
    ASSERT_TRUE(writer->add(event));
  }
  EXPECT_GT(writer->bytes_written(), 30u << 20);
}

// Marks in every 32 bytes, each claiming the rest of the file: looking for whole blocks must stay
// cheap.
TEST(EventFile, ManyFalseMarksAreNotAllBelieved) {
  TempDir dir;
  write_file(dir.file("a.tev"), 1, 4, false);
  std::string text = *read_file(dir.file("a.tev"), "test", 1 << 20);
  constexpr std::size_t kMarks = 200000;
  for (std::size_t n = 0; n < kMarks; ++n) {
    const BlockHeader lie{kBlockMark, 2, 0, (kMarks - n - 1) * sizeof(BlockHeader), 1, 1, 0};
    text.append(reinterpret_cast<const char*>(&lie), sizeof lie);
  }
  std::ofstream(dir.file("lie.tev"), std::ios::binary) << text;
  auto file = EventFile::open(dir.file("lie.tev"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->event_count(), 4u);
  EXPECT_EQ(file->damage().lost_bytes, kMarks * sizeof(BlockHeader));
}

TEST(EventFile, RefusesOtherFilesWithOneLine) {
  TempDir dir;
  std::ofstream(dir.file("empty.tev"));
  std::ofstream(dir.file("text.tev")) << "hello, this is some text and no event file at all";
  EXPECT_EQ(EventFile::open(dir.file("empty.tev")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(EventFile::open(dir.file("text.tev")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(EventFile::open(dir.file("none.tev")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(EventFile::open(dir.path()).error().code, ErrorCode::kUsage);
}

TEST(EventFile, RefusesANewerMajorVersion) {
  TempDir dir;
  write_file(dir.file("a.tev"), 1, 1, true);
  std::string text = *read_file(dir.file("a.tev"), "test", 1 << 20);
  text[8] = 2;
  std::ofstream(dir.file("new.tev"), std::ios::binary) << text;
  EXPECT_EQ(EventFile::open(dir.file("new.tev")).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace teller
