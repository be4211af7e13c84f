// Payloads against schemas that lie: nothing outside the bytes is read, and work is bounded.
#include "capture/payload_decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "capture/nccl_payload.h"

namespace teller::capture {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
  std::uint64_t flags, type, detail, offset;
  std::string name;
};

std::string definition(std::uint64_t type, std::uint64_t bytes, const std::string& name,
                       const std::vector<Entry>& entries) {
  ring::SchemaDefinition head{type, bytes,
                              0,    static_cast<std::uint32_t>(entries.size()),
                              0,    static_cast<std::uint32_t>(name.size())};
  std::string text(reinterpret_cast<const char*>(&head), sizeof head);
  text += name;
  for (const Entry& entry : entries) {
    const ring::SchemaEntry fixed{entry.flags,
                                  entry.type,
                                  entry.detail,
                                  entry.offset,
                                  static_cast<std::uint32_t>(entry.name.size()),
                                  0};
    text.append(reinterpret_cast<const char*>(&fixed), sizeof fixed);
    text += entry.name;
  }
  return text;
}

constexpr std::uint64_t kFirst = nvtx::kFirstStaticSchema;

class Decoder : public testing::Test {
 protected:
  void schema(std::uint64_t id, const std::vector<Entry>& entries,
              std::uint64_t type = nvtx::kStatic, std::uint64_t bytes = 0) {
    ASSERT_TRUE(schemas.define(ring::DefinitionKind::kSchema, 1, id,
                               definition(type, bytes, "name", entries)));
  }
  Json decode(std::uint64_t id, const std::string& bytes) {
    return PayloadDecoder(schemas, [](std::uint64_t) { return "text"; })
        .decode(1, {{id, 0x1000, bytes.size(), bytes}})
        .value;
  }
  PayloadSchemas schemas;
};

template <typename Number>
std::string bytes_of(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

TEST_F(Decoder, FieldsFollowEachOtherByAlignment) {
  schema(kFirst, {{0, 12, 0, 0, "small"}, {0, 18, 0, 0, "large"}, {0, 14, 0, 0, "last"}});
  const std::string bytes = bytes_of<std::uint64_t>({7, 1u << 20, 99});
  EXPECT_EQ(decode(kFirst, bytes), Json({{"small", 7}, {"large", 1 << 20}, {"last", 99}}));
  EXPECT_EQ(decode(kFirst, bytes.substr(0, 12)),
            Json({{"small", 7}, {"large", nullptr}, {"last", nullptr}}));
}

TEST_F(Decoder, EnumerationsSayTheirNames) {
  ASSERT_TRUE(schemas.define(
      ring::DefinitionKind::kEnum, 1, kFirst + 1,
      definition(0, 4, "", {{0, 3, 0, 0, "three"}, {1, 4, 0, 0, "bit"}, {1, 8, 0, 0, "other"}})));
  EXPECT_EQ(decode(kFirst + 1, bytes_of<std::int32_t>({3})), "three");
  EXPECT_EQ(decode(kFirst + 1, bytes_of<std::int32_t>({12})), "bit|other");
  EXPECT_EQ(decode(kFirst + 1, bytes_of<std::int32_t>({2})), 2);
  EXPECT_EQ(decode(kFirst + 1, "x"), nullptr);
}

TEST_F(Decoder, NamesThatAreTwiceThereOrMissingKeepTheirValues) {
  schema(kFirst, {{0, 12, 0, 0, "a"}, {0, 12, 0, 0, "a"}, {0, 12, 0, 0, ""}});
  EXPECT_EQ(decode(kFirst, "\1\2\3"), Json({{"a", 1}, {"a 1", 2}, {"entry 2", 3}}));
}

TEST_F(Decoder, ASchemaWithinItselfEnds) {
  std::vector<Entry> entries;
  for (int i = 0; i < 200; ++i) entries.push_back({0, kFirst, 0, 0, "self"});
  schema(kFirst, entries);
  EXPECT_TRUE(decode(kFirst, std::string(64, 'x')).is_object());
}

TEST_F(Decoder, WhatIsMoreThanIsShownIsSaid) {
  schema(kFirst, {{1u << 4, 18, ~std::uint64_t{0}, 0, "many"}});
  const Json list = decode(kFirst, bytes_of<std::uint64_t>({1, 2}))["many"];
  EXPECT_EQ(list, Json::array({1, 2, "… of 18446744073709551615"}));
}

TEST_F(Decoder, DefinitionsThatAreCutAreRefused) {
  const std::string whole = definition(nvtx::kStatic, 0, "name", {{0, 12, 0, 0, "entry"}});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(schemas.define(ring::DefinitionKind::kSchema, 1, kFirst, whole.substr(0, bytes)));
  }
  EXPECT_TRUE(schemas.define(ring::DefinitionKind::kSchema, 1, kFirst, whole));
}

// Random schemas that refer to each other, on random bytes. Sanitizers watch.
TEST_F(Decoder, SurvivesAnything) {
  std::mt19937_64 random(7);
  const auto pick = [&](std::uint64_t below) { return random() % below; };
  for (int round = 0; round < 3000; ++round) {
    for (std::uint64_t id = 0; id < 4; ++id) {
      std::vector<Entry> entries(pick(6));
      for (Entry& entry : entries) {
        entry.flags = pick(4) == 0 ? random() : pick(8) << 4 | (pick(4) == 0 ? pick(8) << 1 : 0);
        entry.type = pick(3) == 0 ? kFirst + pick(5) : pick(4) == 0 ? random() : pick(110);
        entry.detail = pick(3) == 0 ? random() : pick(10);
        entry.offset = pick(3) == 0 ? random() : pick(3) == 0 ? pick(64) : 0;
        entry.name = std::string(1, static_cast<char>('a' + pick(4)));
      }
      schema(kFirst + id, entries, pick(6), pick(2) == 0 ? 0 : pick(2) == 0 ? random() : pick(64));
    }
    std::string bytes(pick(200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(pick(3) == 0 ? random() : 0);
    // Kept to the byte, so that a sanitizer sees what reads beyond.
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const std::vector<Payload> payloads = {
        {kFirst + pick(5), 0, pick(2) == 0 ? random() : bytes.size(), {exact.data(), exact.size()}},
        {pick(110), pick(64), 8, {exact.data(), std::min<std::size_t>(exact.size(), 8)}}};
    PayloadDecoder decoder(schemas, [](std::uint64_t) { return ""; });
    const std::string text =
        decoder.decode(1, payloads).value.dump(-1, ' ', false, Json::error_handler_t::replace);
    ASSERT_LT(text.size(), 2u << 20);
  }
}

TEST(TakePayloads, RefusesWhatLeavesTheRecord) {
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 120, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
    if (bytes.size() >= 8) {
      const auto number = [&](unsigned below) {
        return static_cast<std::uint32_t>(random() % below);
      };
      const std::uint32_t head[2] = {number(4), number(16) * 8};
      std::memcpy(bytes.data(), head, sizeof head);
    }
    std::string_view rest = bytes;
    std::vector<Payload> payloads;
    if (!take_payloads(rest, &payloads)) continue;
    for (const Payload& payload : payloads) {
      ASSERT_LE(payload.bytes.data() + payload.bytes.size(), bytes.data() + bytes.size());
    }
  }
}

TEST(NcclKeys, ArePlain) {
  Json attrs;
  add_nccl_keys({{"NCCL communicator ID", std::uint64_t{1} << 63}, {"Peer rank", 3}}, "",
                "pncclSend_impl", &attrs);
  EXPECT_EQ(attrs,
            Json({{"collective", "Send"}, {"peer", 3}, {"communicator", "0x8000000000000000"}}));
  Json init;
  add_nccl_keys({{"Rank", 1}}, "CommInitRank", "", &init);
  EXPECT_EQ(init, Json({{"operation", "CommInitRank"}, {"rank", 1}}));
  Json other;
  add_nccl_keys("text", "AllReduce", "", &other);
  EXPECT_TRUE(other.is_null());
}

}  // namespace
}  // namespace teller::capture
