// However many threads take events apart, the same is written and counted.
#include "importers/kineto_parts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "importers/kineto_convert.h"
#include "importers/kineto_reader.h"

namespace teller {
namespace {

class ConverterSink : public KinetoSink {
 public:
  ConverterSink(EventFileWriter& writer, OperatorTimes& operators, std::size_t threads,
                const KinetoMemory& memory, std::size_t names_bytes)
      : converter(writer, &operators, threads, memory, names_bytes) {}
  Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes) override {
    return converter.plain_events(text, event_bytes);
  }
  Result<bool> event(std::string_view text) override { return converter.event(text); }
  void lost(std::uint64_t count) override { converter.lost(count); }
  void member(std::string_view, std::string_view) override {}
  Status piece_done() override {
    converter.text_done();
    return {};
  }

  KinetoConverter converter;
};

struct Memory {
  KinetoMemory shapers = {};
  std::size_t names_bytes = KinetoConverter::kNamesBytes;
  bool is_little = false;  // so that shapers must forget
};

// What an import writes and says, as one text.
std::string import_with(std::size_t threads, const std::string& text, const Memory& memory = {}) {
  TempDir dir;
  std::ofstream(dir.file("trace.json"), std::ios::binary) << text;
  const auto input = InputStream::open(dir.file("trace.json"));
  auto writer = EventFileWriter::create_hashed(dir.file("out.tev"), "{}");
  OperatorTimes operators;
  operators.begin_source("trace.json");
  ConverterSink sink(*writer, operators, threads, memory.shapers, memory.names_bytes);
  const auto end = KinetoReader(**input, sink).read();
  EXPECT_TRUE(end && writer->finish(""));
  EXPECT_TRUE(sink.converter.counts().balanced());
  EXPECT_EQ(sink.converter.forgotten() > 0, memory.is_little);
  std::string said = writer->digest() + sink.converter.counts().to_json().dump() +
                     sink.converter.complete_events().dump() + sink.converter.names().dump() +
                     sink.converter.layers().to_json().dump() +
                     std::to_string(sink.converter.first_ns().value_or(0));
  for (const TracedProcess& process : operators.processes()) {
    said += " " + std::to_string(process.pid) + ":" + std::to_string(process.operators.size());
  }
  return said;
}

std::string number(int value) {
  return std::to_string(value);
}

// Events of all sorts, in pieces of several MB; of each `odd` one is none that is plain.
std::string events(int count, int odd) {
  std::string text = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
  for (int i = 0; i < count; ++i) {
    const std::string place =
        ", \"pid\": 7, \"tid\": " + number(i % 5) + ", \"ts\": " + number(i) + ".125, ";
    if (i > 0) text += ",\n";
    if (i % odd == odd - 1) {
      const char* const oddities[] = {R"({"ph": "X", "cat": "c\u0070u_op", "name": "a\"b")",
                                      R"({"ph": "Q", "cat": "cpu_op", "name": "phase")",
                                      R"({"ph": "X", "cat": "none", "name": "n", "bad": tru)"};
      text += oddities[i / odd % 3] + place + "\"dur\": 1}";
    } else if (i % 11 == 0) {
      text += R"({"ph": "s", "id": )" + number(i) + R"(, "cat": "ac2g", "name": "ac2g")" + place +
              "\"bp\": \"e\"}";
    } else if (i % 97 == 0) {
      text += R"({"ph": "M", "name": "thread_name")" + place + R"("args": {"name": "t)" +
              number(i % 7) + "\"}}";
    } else if (i % 3 == 0) {
      text += R"({"ph": "X", "cat": "kernel", "name": "gemm)" + number(i % 400) + "\"" + place +
              R"("dur": 3, "args": {"device": 0, "context": 1, "stream": )" + number(i % 4) +
              R"(, "correlation": )" + number(i) +
              R"(, "grid": [1, 2, 3], "list": [{"a": 1}, {"b": 2}]}})";
    } else {
      text += R"({"ph": "X", "cat": "cpu_op", "name": "aten::op)" + number(i % 3000) + "\"" +
              place + R"("dur": 2, "args": {"External id": )" + number(i) +
              R"(, "Record function id": )" + number(i + 1) +
              R"(, "Concrete Inputs": ["", "[1, 2]"]}})";
    }
  }
  return text + "\n]}\n";
}

TEST(KinetoParts, ThreadsShowNowhere) {
  for (const int odd : {1 << 30, 5000, 400, 7}) {
    const std::string text = events(15'000, odd);
    const std::string alone = import_with(1, text);
    for (const std::size_t threads : {2u, 4u}) EXPECT_EQ(import_with(threads, text), alone) << odd;
  }
}

// What is broken makes the reader start anew in the middle of a text that others still read.
TEST(KinetoParts, NorInDamagedText) {
  std::string text = events(30'000, 5000);
  for (std::size_t at = 300'000; at < text.size(); at += 700'000)
    text.erase(text.find("}},", at), 2);
  const std::string alone = import_with(1, text);
  EXPECT_EQ(import_with(4, text), alone);
  text.resize(text.size() / 2);
  EXPECT_EQ(import_with(4, text), import_with(1, text));
}

// Kernels in an array, each with a name of `padding` bytes more, a category and a place of its own.
std::string all_different(int count, std::size_t padding) {
  const std::string pad(padding, 'x');
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    const std::string own = number(i % (count / 4 * 3));  // some come again
    text += (i > 0 ? "},{" : "{") + std::string(R"("ph":"X","cat":")") +
            (i % 2 == 0 ? "kernel" : "c" + own) + R"(","name":"n)" + own + pad + R"(","pid":)" +
            own + R"(,"tid":1,"ts":)" + number(i) + R"(,"dur":1,"args":{"device":0,"stream":)" +
            own + "}";
  }
  return text + "}]";
}

TEST(KinetoParts, NorWhatAShaperForgets) {
  const std::string text = all_different(20'000, 0);
  const std::string alone = import_with(1, text);
  for (const std::size_t threads : {1u, 2u, 4u}) {
    EXPECT_EQ(import_with(threads, text, {.shapers = {.texts = 500}, .is_little = true}), alone);
    EXPECT_EQ(import_with(threads, text, {.shapers = {.bytes = 5000}, .is_little = true}), alone);
  }
  const std::string odd = events(15'000, 7);
  EXPECT_EQ(import_with(4, odd, {.shapers = {.texts = 100}, .is_little = true}),
            import_with(1, odd));
}

// A name that was forgotten is written again, by whoever it was read.
TEST(KinetoParts, NorTheNamesThatAreWrittenAgain) {
  const std::string text = all_different(20'000, 0);
  const Memory few{.names_bytes = 300'000};
  const std::string alone = import_with(1, text, few);
  EXPECT_NE(alone, import_with(1, text));
  for (const std::size_t threads : {2u, 4u}) EXPECT_EQ(import_with(threads, text, few), alone);
  const Memory little{.shapers = {.texts = 500}, .names_bytes = 300'000, .is_little = true};
  EXPECT_EQ(import_with(4, text, little), alone);
}

// A small file may inflate to any number of long names.
TEST(KinetoParts, KeepsNoMoreTextThanItMay) {
  const std::string text = all_different(1000, 30'000) + std::string(64, ' ');
  const KinetoMemory memory{.texts = 100, .bytes = 1u << 20};
  KinetoParts parts(1, false, memory);
  const char* const end = text.data() + text.size() - 64;
  const char* at = text.data() + 1;
  std::size_t events = 0;
  while (at < end - 1) {
    const char* const stop = std::min(end, at + (1u << 20));
    parts.start(at, stop, 1u << 20);
    EXPECT_LE(parts.shaper(0).text_bytes(), memory.bytes);
    EXPECT_LE(parts.shaper(0).texts(), memory.texts);
    const KinetoPart& part = parts.take(at, stop, 1u << 20);
    ASSERT_GT(part.got, at);
    events += part.events.events.size();
    at = part.got;
  }
  EXPECT_EQ(events, 1000u);
  EXPECT_GT(parts.forgotten(), 10u);
}

// What is too much to be told apart is counted all the same, and known categories stay known.
TEST(KinetoParts, CountsMoreCategoriesThanItTellsApart) {
  std::string text = "[";
  const auto add = [&](const std::string& members) {
    text += (text.size() > 1 ? ",{" : "{") + members + R"(,"name":"n","pid":1,"tid":1,"ts":1})";
  };
  for (int i = 0; i < 70'000; ++i) add(R"("ph":"X","cat":"c)" + number(i) + "\"");
  for (int i = 0; i < 3; ++i) add(R"("ph":"X","cat":"kernel")");
  add(R"("ph":"X","cat":")" + std::string(300, 'x') + "\"");
  add(R"("ph":")" + std::string(300, 'x') + "\"");
  TempDir dir;
  std::ofstream(dir.file("trace.json"), std::ios::binary) << text << "]";
  const auto input = InputStream::open(dir.file("trace.json"));
  auto writer = EventFileWriter::create_hashed(dir.file("out.tev"), "{}");
  OperatorTimes operators;
  ConverterSink sink(*writer, operators, 2, {}, KinetoConverter::kNamesBytes);
  ASSERT_TRUE(KinetoReader(**input, sink).read());
  ASSERT_TRUE(writer->finish(""));
  const SourceCounts& counts = sink.converter.counts();
  EXPECT_TRUE(counts.balanced());
  EXPECT_EQ(counts.events, 3u);
  EXPECT_EQ(counts.unknown_total(), 70'002u);
  EXPECT_LT(counts.unknown.size(), 66'000u);
  std::uint64_t complete = 0;
  const nlohmann::ordered_json by_category = sink.converter.complete_events();
  for (const auto& [category, count] : by_category.items()) {
    complete += count.get<std::uint64_t>();
  }
  EXPECT_EQ(complete, 70'004u);
  const auto file = EventFile::open(dir.file("out.tev"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->string(file->blocks()[4][69'999 - 4 * 16'384].category), "c69999");
}

}  // namespace
}  // namespace teller
