// What the one-pass reader takes, it reads as the reader of everything does.
#include "importers/kineto_plain_event.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "importers/array_scanner.h"
#include "importers/json_text.h"
#include "importers/plain_json.h"

namespace teller {
namespace {

const std::vector<std::string> kEvents = {
    R"({ "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 4211, "tid": 4211,
    "ts": 1428625731456483.400, "dur": 12.345,
    "args": {
      "External id": 7,"Record function id": 0, "Concrete Inputs": ["", "", "1"], "Input Dims": [[32, 4096], [4096, 4096], []], "Ev Idx": 8
    }
  })",
    R"x({"ph":"X","cat":"kernel","name":"void f<4>(int, char*)","pid":0,"tid":"stream 7","ts":5,"dur":0.5,"args":{"device":0,"stream":7,"context":1,"correlation":9,"grid":[32,1,1],"occ":1.5e-3,"ok":true,"no":null,"o":{"a":[{"b":-1},{ }]}}})x",
    R"({"ph":"s","id":3,"pid":1,"tid":1,"ts":5.123,"cat":"ac2g","name":"ac2g","bp":"e","scope":"q\"uo\u00e9te\/"})",
    "{\"name\":\"gr\xc3\xbc\xc3\x9f\",\"ph\":\"i\",\"ts\":-1,\"args\":{\"k\xc3\xa9y\":"
    "\"v\xe2\x82\xac\"}}",
    R"({"ph":"M","name":"process_labels","pid":1,"args":{"labels":"CPU","sort_index":2}})",
};

std::string padded(const std::string& text) {
  return text + std::string(plain_json::kPadding, ' ');
}

// All that a reader found, its values without blanks; "" where a value is no JSON.
std::string shown(const KinetoEvent& event) {
  std::string text;
  for (const std::string_view field :
       {event.ph, event.cat, event.name, event.pid, event.tid, event.ts, event.dur, event.id}) {
    text.append(field) += '\n';
  }
  for (const auto* fields : {&event.args, &event.extra}) {
    for (const JsonField& field : *fields) {
      ((text += field.key) += '=') += std::to_string(static_cast<int>(field.id));
      text += ':';
      if (append_compact(field.value, text) != CopyResult::kClean) return "";
      text += '\n';
    }
    text += "--\n";
  }
  return text;
}

// Where the scanner of arrays sees the first element end; 0 if it sees none, or a lost brace.
std::size_t scanned_size(const std::string& text) {
  ArrayScanner scanner;
  scanner.reset(0);
  std::vector<ArrayElement> found;
  const std::string all = padded(text);
  scanner.scan({all.data(), text.size()}, true, found);
  return found.empty() || found[0].cut || found[0].begin != 0 ? 0 : found[0].end;
}

// True if the event was plain.
bool check(const std::string& text) {
  const std::string all = padded(text);
  KinetoPlainParser plain;
  KinetoEvent fast;
  const std::size_t size = plain.parse({all.data(), text.size()}, fast);
  if (size == 0) return false;
  EXPECT_EQ(size, scanned_size(text)) << text;
  const std::string alone = padded(text.substr(0, size));
  KinetoEventParser parser;
  KinetoEvent slow;
  EXPECT_EQ(parser.parse({alone.data(), size}, slow), KinetoEventParser::Outcome::kGood) << text;
  EXPECT_EQ(shown(fast), shown(slow)) << text;
  EXPECT_NE(shown(fast), "") << text;
  for (const auto* fields : {&fast.args, &fast.extra}) {
    for (const JsonField& field : *fields) {
      std::string compact;
      EXPECT_EQ(append_compact(field.value, compact), CopyResult::kClean) << text;
      EXPECT_TRUE(field.compact);
      EXPECT_EQ(compact, field.value) << text;
    }
  }
  return true;
}

TEST(KinetoPlainEvent, TakesWhatProfilersWrite) {
  for (const std::string& event : kEvents) EXPECT_TRUE(check(event)) << event;
  EXPECT_TRUE(check(kEvents[0] + ",\n" + kEvents[1]));
}

TEST(KinetoPlainEvent, LeavesTheRestToOthers) {
  for (const char* text : {R"({})",
                           R"({"ph":"X")",
                           R"({"ph":"X",})",
                           R"({"ph" "X"})",
                           R"({"ph":"\u0058"})",
                           R"({"p\u0068":"X"})",
                           R"({"ph":null})",
                           R"({"args":null})",
                           R"({"args":{"a":nan}})",
                           R"({"args":{"a":01}})",
                           R"({"args":{"a":1.}})",
                           R"({"args":{"a":[1,]}})",
                           R"({"args":{"a":[1 2]}})",
                           R"({"args":{"a":tru}})",
                           R"({"args":{"a":"\x"}})",
                           R"({"args":{"a":"\ud800"}})",
                           R"({"args":{"device":[ 1 ]}})",
                           R"({"args":{"a":[1}]})",
                           R"({"args":{"a":[1,{"ph":"X"}]}})",
                           "{\"name\":\"a\tb\"}",
                           "{\"name\":\"\xff\"}",
                           "{\"args\":{\"a\":\"\xed\xa0\x80\"}}",
                           R"({"ts":0x1f})",
                           R"({"ts":1 2})",
                           R"({"args":{"a":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}})"}) {
    EXPECT_FALSE(check(text)) << text;
  }
}

TEST(KinetoPlainEvent, WaitsForTheWholeEvent) {
  for (const std::string& event : kEvents) {
    for (std::size_t size = 1; size < event.size(); ++size) {
      const std::string all = padded(event.substr(0, size));
      KinetoPlainParser plain;
      KinetoEvent found;
      EXPECT_EQ(plain.parse({all.data(), size}, found), 0u) << event.substr(0, size);
    }
  }
}

TEST(KinetoPlainEvent, ReadsDamagedEventsLikeTheReaderOfEverything) {
  std::mt19937 random(11);
  const std::string bits[] = {"{",          "}",         "[",        "]",       "\"",   ",",
                              ":",          "\\",        "\n",       " ",       "0",    "-",
                              ".",          "e5",        "nul",      "null",    "true", "1",
                              "\x01",       "\xff",      "\xc3\xa9", "\\u0041", "/",    "[1, 2]",
                              "{\"a\": 1}", ",{\"ph\":", "\"args\":"};
  int plain = 0;
  for (int round = 0; round < 60000; ++round) {
    std::string text = kEvents[random() % kEvents.size()];
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const std::string& bit = bits[random() % std::size(bits)];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 4);
      } else {
        text.replace(at, random() % 2, bit);
      }
      if (text.empty() || text[0] != '{') text.insert(0, "{");
    }
    plain += check(text) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(plain, 1000);
}

}  // namespace
}  // namespace teller
