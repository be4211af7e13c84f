// What a process writes into its rings may be anything: the event file stays whole.
#include "capture/event_converter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

namespace teller::capture {
namespace {

using ring::RecordHeader;

class Random {
 public:
  std::uint64_t operator()(std::uint64_t below) { return engine_() % below; }
  std::uint64_t any() { return engine_(); }
  // Words that are small as often as they are not.
  std::string bytes(std::size_t size) {
    std::string text;
    while (text.size() < size) {
      const std::uint64_t word = (*this)(3) == 0 ? any() : (*this)(40);
      text.append(reinterpret_cast<const char*>(&word), (*this)(2) == 0 ? 8 : 4);
    }
    text.resize(size);
    return text;
  }

 private:
  std::mt19937_64 engine_{11};
};

void feed(EventConverter& converter, Random& random) {
  const std::string text = random.bytes(random(300));
  const auto kind = static_cast<ring::DefinitionKind>(random(14));
  converter.on_definition(kind, static_cast<std::uint32_t>(random(3)),
                          random(2) == 0 ? random(9) : random.any(), text);
  for (int i = 0; i < 20; ++i) {
    const std::string payload = random.bytes(random(200) / 8 * 8);
    const RecordHeader header{static_cast<std::uint32_t>(payload.size() + sizeof(RecordHeader)),
                              static_cast<std::uint16_t>(random(12)),
                              static_cast<std::uint16_t>(random(2) == 0 ? random.any() : 0),
                              random(4) == 0 ? random.any() : random(1000)};
    converter.on_record(static_cast<std::uint32_t>(random(ring::kMaxRings)), header, payload);
  }
}

TEST(EventConverter, MakesAWholeFileOfAnything) {
  char folder[] = "/tmp/teller-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  Random random;
  for (int round = 0; round < 20; ++round) {
    const std::string path = std::string(folder) + "/" + std::to_string(round) + ".tev";
    auto file = EventFileWriter::create(path, "{}");
    ASSERT_TRUE(file.ok());
    EventConverter converter(std::move(*file), 1);
    for (int i = 0; i < 100; ++i) feed(converter, random);
    ring::OpenCall call{};
    std::memset(call.name, 'x', sizeof call.name - 1);
    converter.on_open_call(3, call);
    ring::Launch launch{};
    launch.begin_ns = random.any();
    converter.on_launch(launch);
    ArenaLosses losses;
    losses.cuda.activities = true;
    ASSERT_TRUE(converter.finish(losses, 1'000'000'000'000).ok());
    const auto read = EventFile::open(path);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->damage().whole) << read->damage().reason;
    EXPECT_EQ(read->damage().invalid_records, 0u);
    EXPECT_EQ(read->event_count(), converter.counts().records);
    EXPECT_GT(converter.counts().invalid, 0u);
  }
  std::filesystem::remove_all(folder);
}

// A converter into a file that is gone after the test.
class Converting : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/teller-test-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    auto file = EventFileWriter::create(folder_ + "/1.tev", "{}");
    ASSERT_TRUE(file.ok());
    converter_ = std::make_unique<EventConverter>(std::move(*file), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::unique_ptr<EventConverter> converter_;
};

// What the hooks' marks hold is the program's word: a depth that no stack can hold does no harm.
TEST_F(Converting, JsonThatIsNestedTooDeeplyIsRefused) {
  converter_->on_definition(ring::DefinitionKind::kDomain, 0, 4, "teller");
  converter_->on_definition(ring::DefinitionKind::kCategory, 4, 5, "META");
  converter_->on_definition(ring::DefinitionKind::kCategory, 4, 6, "RECORD");
  const std::string deep = "{\"a\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}";
  for (const std::uint32_t category : {5, 6}) {
    const ring::TextRecord fixed{4, category, static_cast<std::uint32_t>(deep.size()), 0};
    const std::string payload(reinterpret_cast<const char*>(&fixed), sizeof fixed);
    const auto type = static_cast<std::uint16_t>(ring::RecordType::kMark);
    converter_->on_record(0, RecordHeader{0, type, 0, 1}, payload + deep);
  }
  ASSERT_TRUE(converter_->finish({}, 10).ok());
  EXPECT_EQ(converter_->counts().invalid, 1u);
  EXPECT_EQ(converter_->counts().bad_step_records, 1u);
  EXPECT_EQ(converter_->counts().records, 1u);  // the mark that is no step record
}

TEST_F(Converting, ALaunchWhoseActivityIsNoLongerKeptDoesNotHang) {
  DoneIds done;
  done.add(1);
  converter_->on_done(done);
  for (const std::uint32_t id : {1, 2}) {
    ring::Launch launch{};
    launch.correlation = id;
    converter_->on_launch(launch);
  }
  ArenaLosses losses;
  losses.cuda.activities = true;
  ASSERT_TRUE(converter_->finish(losses, 1'000'000'000'000).ok());
  EXPECT_EQ(converter_->counts().records, 1u);
}

}  // namespace
}  // namespace teller::capture
