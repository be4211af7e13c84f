#include "importers/pickle_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(std::initializer_list<int> list) {
  std::string text;
  for (const int byte : list) text.push_back(static_cast<char>(byte));
  return text;
}

const std::string kProto2 = bytes({0x80, 2});

Json read(const std::string& pickle) {
  auto value = read_pickle(pickle);
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : Json();
}

Error fail(const std::string& pickle, const PickleLimits& limits = {}) {
  auto value = read_pickle(pickle, limits);
  EXPECT_FALSE(value) << value->dump();
  return value ? Error{ErrorCode::kInternal, "", ""} : value.error();
}

// {"a": [1, -2, 300, 70000, 2**40, None, True, False, 1.5], "b": ("x", "x")} as PyTorch writes it.
std::string small() {
  std::string p = kProto2 + "}" + bytes({'q', 0}) + "(";
  p += "X" + bytes({1, 0, 0, 0}) + "a" + bytes({'q', 1}) + "]" + bytes({'q', 2}) + "(";
  p += bytes({'K', 1}) + "J" + bytes({0xfe, 0xff, 0xff, 0xff}) + "M" + bytes({0x2c, 1});
  p += "J" + bytes({0x70, 0x11, 1, 0}) + bytes({0x8a, 6, 0, 0, 0, 0, 0, 1});
  p += "N" + bytes({0x88, 0x89}) + "G" + bytes({0x3f, 0xf8, 0, 0, 0, 0, 0, 0}) + "e";
  p += "X" + bytes({1, 0, 0, 0}) + "b" + "X" + bytes({1, 0, 0, 0}) + "x" + bytes({'q', 4});
  p += bytes({'h', 4, 0x86}) + "u.";
  return p;
}

TEST(PickleReader, ReadsWhatPyTorchWrites) {
  EXPECT_EQ(read(small()), Json::parse(R"({"a":[1,-2,300,70000,1099511627776,null,true,false,1.5],
                                           "b":["x","x"]})"));
}

TEST(PickleReader, ReadsTheShortOpcodesOfLaterProtocols) {
  // {'k': ['v', 'v'], 1: b'z'} with FRAME, SHORT_BINUNICODE, MEMOIZE, APPEND and SETITEM.
  std::string p = bytes({0x80, 4, 0x95, 0, 0, 0, 0, 0, 0, 0, 0}) + "}" + bytes({0x94});
  p += bytes({0x8c, 1}) + "k" + bytes({0x94}) + "]" + bytes({0x94});
  p += bytes({0x8c, 1}) + "v" + bytes({0x94}) + "a" + bytes({'h', 3}) + "as";
  p += bytes({'K', 1, 'C', 1}) + "zs.";
  EXPECT_EQ(read(p), Json::parse(R"({"k":["v","v"],"1":"z"})"));
}

TEST(PickleReader, ReadsLongsOfAnySignAndLength) {
  const auto number = [](std::initializer_list<int> list) {
    std::string p = kProto2 + bytes({0x8a, static_cast<int>(list.size())}) + bytes(list) + ".";
    return read(p);
  };
  EXPECT_EQ(number({}), 0);
  EXPECT_EQ(number({0xff}), -1);
  EXPECT_EQ(number({0xff, 0}), 255);
  EXPECT_EQ(number({0, 0, 0, 0, 0, 0, 0, 0x80}), INT64_MIN);
  // Beyond that they are real numbers, as in JSON.
  EXPECT_EQ(number({0, 0, 0, 0, 0, 0, 0, 0, 1}), 18446744073709551616.0);
  EXPECT_EQ(number({0, 0, 0, 0, 0, 0, 0, 0, 0xff}), -18446744073709551616.0);
  std::string p = kProto2 + bytes({0x8a, 0xff}) + std::string(255, '\x7f') + ".";
  EXPECT_EQ(read(p), std::numeric_limits<double>::max());
}

TEST(PickleReader, TheLaterOfTwoEqualKeysCounts) {
  EXPECT_EQ(read(kProto2 + "}(" + bytes({0x8c, 1}) + "a" + bytes({'K', 1, 0x8c, 1}) + "a" +
                 bytes({'K', 2}) + "u."),
            Json::parse(R"({"a":2})"));
}

TEST(PickleReader, SaysWhereAPickleIsCutAtEveryByte) {
  const std::string whole = small();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = fail(whole.substr(0, size));
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << size;
    EXPECT_NE(error.message.find("byte"), std::string::npos) << size << error.message;
  }
}

TEST(PickleReader, SurvivesAnyChangedByte) {
  const std::string whole = small();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      const auto value = read_pickle(changed);
      EXPECT_TRUE(!value || !value->is_discarded());
    }
  }
}

TEST(PickleReader, RefusesWhatMakesOrCallsObjects) {
  const Error error =
      fail(kProto2 + "cos\nsystem\n(" + bytes({0x8c, 2}) + "ls" + bytes({0x85}) + "R.");
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_NE(error.message.find("at byte 2: opcode GLOBAL (0x63)"), std::string::npos)
      << error.message;
  for (const int opcode :
       {0x93, +'R', +'b', +'i', +'o', 0x81, 0x92, +'P', +'Q', 0x82, 0x83, 0x84, 0x97, 0x98}) {
    const Error refused = fail(kProto2 + "NN" + bytes({opcode}) + "abc\nabc\n.");
    EXPECT_EQ(refused.code, ErrorCode::kUnsupported) << opcode;
    EXPECT_NE(refused.message.find("at byte 4: opcode "), std::string::npos) << refused.message;
  }
}

TEST(PickleReader, TakesNoLengthFromTheFileOnTrust) {
  const std::string huge = bytes({0, 0, 0, 0, 0, 0, 0, 0x80});  // 2^63
  for (const int opcode : {0x8d, 0x8e}) {
    EXPECT_EQ(fail(kProto2 + bytes({opcode}) + huge + "x.").code, ErrorCode::kCorrupt);
    EXPECT_EQ(fail(kProto2 + bytes({opcode}) +
                   bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) + "x.")
                  .code,
              ErrorCode::kCorrupt);
  }
  EXPECT_EQ(fail(kProto2 + "X" + bytes({0xff, 0xff, 0xff, 0xff}) + "x.").code, ErrorCode::kCorrupt);
  EXPECT_EQ(fail(kProto2 + bytes({0x8b, 0xff, 0xff, 0xff, 0xff}) + "x.").code, ErrorCode::kCorrupt);
}

TEST(PickleReader, AListThatHoldsItselfIsRefused) {
  EXPECT_NE(fail(kProto2 + "]" + bytes({'q', 0, 'h', 0}) + "a.").message.find("hold themselves"),
            std::string::npos);
}

TEST(PickleReader, SharedValuesCannotGrowBeyondBounds) {
  // Forty lists, each holding the one before it twice.
  std::string p = kProto2 + "]" + bytes({'q', 0});
  for (int i = 0; i < 40; ++i) {
    p += "](" + bytes({'h', i, 'h', i}) + "e" + bytes({'q', i + 1});
  }
  p += ".";
  // The lists below the last stay on the stack: put the last alone.
  p = kProto2 + "(" + p.substr(2, p.size() - 3) + bytes({'q', 99}) + "1" + bytes({'h', 99}) + ".";
  EXPECT_EQ(fail(p).code, ErrorCode::kUnsupported);
  // One text, written out many times.
  PickleLimits limits;
  limits.text_bytes = 100;
  std::string texts = kProto2 + "](" + bytes({0x8c, 50}) + std::string(50, 'x') + bytes({'q', 0});
  texts += bytes({'h', 0, 'h', 0}) + "e.";
  EXPECT_EQ(fail(texts, limits).code, ErrorCode::kUnsupported);
}

TEST(PickleReader, DeepNestingIsRefusedWithoutRecursion) {
  std::string p = kProto2;
  for (int i = 0; i < 200000; ++i) p += "]";
  for (int i = 0; i < 199999; ++i) p += "a";
  EXPECT_EQ(fail(p + ".").code, ErrorCode::kUnsupported);
  EXPECT_EQ(fail(kProto2 + std::string(200000, '(') + ".").code, ErrorCode::kCorrupt);
}

TEST(PickleReader, BoundsWhatIsMade) {
  PickleLimits limits;
  limits.values = 10;
  EXPECT_EQ(fail(kProto2 + "(" + std::string(11, 'N') + "t.", limits).code,
            ErrorCode::kUnsupported);
  std::string memo = kProto2 + "N";
  for (int i = 0; i < 12; ++i) memo += bytes({'q', i});
  EXPECT_EQ(fail(memo + ".", limits).code, ErrorCode::kUnsupported);
  limits.members = 2;
  EXPECT_EQ(
      fail(kProto2 + "}(" + bytes({'K', 1}) + "N" + bytes({'K', 2}) + "N" + bytes({'K', 3}) + "Nu.",
           limits)
          .code,
      ErrorCode::kUnsupported);
}

TEST(PickleReader, WrongUseOfTheStackIsAnErrorNotACrash) {
  for (const std::string body :
       {"a.",    "e.",    "s.",    "u.",    "t.",   "\x85.", "0.", "1.",  "2.",   ".",  "NN.",
        "]N(e.", "N(Ne.", "](Nu.", "}(Nu.", "}Na.", "]NNs.", "(.", "hz.", "(]a.", "q.", "]]Ns."}) {
    EXPECT_EQ(fail(kProto2 + body).code, ErrorCode::kCorrupt) << body;
  }
  EXPECT_EQ(fail(kProto2 + "N.N").code, ErrorCode::kCorrupt);
  EXPECT_EQ(fail(kProto2 + "\xff.").code, ErrorCode::kCorrupt);
  EXPECT_EQ(fail(bytes({0x80, 9}) + "N.").code, ErrorCode::kUnsupported);
  EXPECT_EQ(fail(kProto2 + "}()Nu.").code, ErrorCode::kUnsupported);  // a key that is a tuple
}

TEST(PickleReader, TextThatIsNoUtf8IsMended) {
  EXPECT_EQ(read(kProto2 + "X" + bytes({2, 0, 0, 0, 0xff}) + "a."),
            "\xEF\xBF\xBD"
            "a");
}

}  // namespace
}  // namespace teller
