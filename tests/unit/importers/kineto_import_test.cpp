// The import of a Kineto trace as a whole: its threads, its digests, and how it ends early.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <string>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "importers/source_import.h"

namespace teller {
namespace {

// A trace of `events` events, every `odd`th of which only the reader of everything takes.
std::string trace(int events, int odd) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < events; ++i) {
    const std::string number = std::to_string(i);
    text += i == 0 ? "\n" : ",\n";
    text += R"({"ph": "X", "cat": "cpu_op", "name": "op)" + std::to_string(i % 100);
    text += i % odd == odd - 1 ? R"(\u00e9", )" : R"(", )";
    text +=
        R"("pid": 1, "tid": )" + std::to_string(i % 7) + R"(, "ts": )" + number + ".5, \"dur\": 1,";
    text += R"( "args": {"External id": )" + number + R"(, "Input Dims": [[1, 2], []]}})";
  }
  return text + "]}";
}

struct KinetoImportTest : testing::Test {
  KinetoImportTest() {
    request.path = dir.file("trace.json");
    request.name = "trace.json";
  }
  void write(const std::string& text) const {
    std::ofstream(request.path, std::ios::binary) << text;
  }

  TempDir dir;
  SourceRequest request;
};

TEST_F(KinetoImportTest, DigestsAreThoseOfTheFiles) {
  write(trace(60000, 1000));
  const auto result = import_kineto(request, dir.file("a.tev"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->events_written, 60000u);
  EXPECT_EQ(result->digest, xxh128_file(request.path).value());
  EXPECT_EQ(result->output_digest, xxh128_file(dir.file("a.tev")).value());
  const auto again = import_kineto(request, dir.file("b.tev"));
  ASSERT_TRUE(again);
  EXPECT_EQ(result->output_digest, again->output_digest);
}

// Who takes an event apart shows nowhere: with an escape in a key, the reader of everything does.
TEST_F(KinetoImportTest, BothReadersWriteTheSame) {
  const std::string text = trace(3000, 1 << 30);
  write(text);
  ASSERT_TRUE(import_kineto(request, dir.file("a.tev")));
  std::string odd = text;
  for (std::size_t at = odd.find("{\"ph\""); at != std::string::npos;
       at = odd.find("{\"ph\"", at + 1)) {
    odd.replace(at, 5, "{\"bp\":\"\\u0065\",\"q\\u0068\":\"\",\"ph\"");
  }
  write(odd);
  const auto result = import_kineto(request, dir.file("b.tev"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->events_written, 3000u);
  const auto a = EventFile::open(dir.file("a.tev"));
  const auto b = EventFile::open(dir.file("b.tev"));
  ASSERT_TRUE(a && b);
  for (std::size_t i = 0; i < 3000; ++i) {
    const EventRecord& x = a->blocks()[0][i];
    const EventRecord& y = b->blocks()[0][i];
    ASSERT_EQ(x.begin_ns, y.begin_ns);
    ASSERT_EQ(x.external, y.external);
    ASSERT_EQ(a->string(x.name), b->string(y.name));
    std::string attrs(b->string(y.attrs));
    const std::string member = ",\"q\\u0068\":\"\"";
    const std::size_t at = attrs.find(member);
    ASSERT_NE(at, std::string::npos) << attrs;
    ASSERT_EQ(a->string(x.attrs), attrs.erase(at, member.size()));
  }
}

TEST_F(KinetoImportTest, StopsWhereItIsAsked) {
  write(trace(60000, 1000));
  std::atomic<bool> stop{false};
  request.stop = &stop;
  request.progress = [&](std::uint64_t done, std::uint64_t) { stop = stop || done > 0; };
  const auto result = import_kineto(request, dir.file("a.tev"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

TEST_F(KinetoImportTest, TellsAFullDisk) {
  write(trace(60000, 1000));
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto result = import_kineto(request, dir.file("a.tev"));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("writing " + dir.file("a.tev") + ": File too large"),
            std::string::npos)
      << result.error().message;
}

TEST_F(KinetoImportTest, CountsWhatIsBrokenAmongPlainEvents) {
  const std::string text = trace(5000, 100);
  const std::size_t middle = text.find(",\n", text.size() / 2);
  write(text.substr(0, middle) + ",7,{\"ph\":\"X\",,},\n{\"ph\":\"X\",\"ts\":\"x\"}" +
        text.substr(middle));
  const auto result = import_kineto(request, dir.file("a.tev"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->events_written, 5000u);
  EXPECT_EQ(result->counts.malformed, 3u);
  EXPECT_TRUE(result->counts.balanced());
}

}  // namespace
}  // namespace teller
