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
  ConverterSink(EventFileWriter& writer, OperatorTimes& operators, std::size_t threads)
      : converter(writer, &operators, threads) {}
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

// What an import writes and says, as one text.
std::string import_with(std::size_t threads, const std::string& text) {
  TempDir dir;
  std::ofstream(dir.file("trace.json"), std::ios::binary) << text;
  const auto input = InputStream::open(dir.file("trace.json"));
  auto writer = EventFileWriter::create_hashed(dir.file("out.tev"), "{}");
  OperatorTimes operators;
  operators.begin_source("trace.json");
  ConverterSink sink(*writer, operators, threads);
  const auto end = KinetoReader(**input, sink).read();
  EXPECT_TRUE(end && writer->finish(""));
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

// More names than a shaper keeps.
TEST(KinetoParts, NorAmongManyNames) {
  std::string text = "[";
  for (int i = 0; i < 200'000; ++i) {
    text += (i > 0 ? "},{" : "{") + std::string(R"("ph":"X","cat":"cpu_op","name":"n)") +
            number(i % 150'000) + R"(","pid":1,"tid":1,"ts":)" + number(i) + R"(,"dur":1)";
  }
  text += "}]";
  EXPECT_EQ(import_with(2, text), import_with(1, text));
}

}  // namespace
}  // namespace teller
