#include "importers/log_zone.h"

#include <gtest/gtest.h>

#include "importers/source_names.h"

namespace teller {
namespace {

TEST(LogZone, FixedOffsets) {
  for (const auto& [text, seconds] :
       {std::pair{"UTC", 0}, {"Z", 0}, {"+02:00", 7200}, {"-0530", -19800}, {"+14", 50400}}) {
    const auto zone = LogZone::parse(text);
    ASSERT_TRUE(zone.ok()) << text;
    EXPECT_EQ(zone->offset_at(1'700'000'000), seconds) << text;
    EXPECT_EQ(zone->unix_of(1'700'000'000, 0).unix_s, 1'700'000'000 - seconds) << text;
  }
  for (const char* text : {"", "+", "+2", "+02:0", "+15:00", "+14:01", "+02:60", "02:00",
                           "/etc/passwd", "../zoneinfo/UTC", "Nowhere", "a:b"}) {
    EXPECT_FALSE(LogZone::parse(text).ok()) << text;
  }
}

TEST(LogZone, ChangesOfClocks) {
  const auto zone = LogZone::parse("Europe/Berlin");
  if (!zone) GTEST_SKIP() << "no tzdata here";
  constexpr std::int64_t kMarch = 1'774'746'000;    // 2026-03-29T01:00:00Z: 02:00 becomes 03:00
  constexpr std::int64_t kOctober = 1'792'890'000;  // 2026-10-25T01:00:00Z: 03:00 becomes 02:00
  EXPECT_EQ(zone->offset_at(kMarch - 1), 3600);
  EXPECT_EQ(zone->offset_at(kMarch), 7200);
  EXPECT_EQ(zone->unix_of(kMarch + 3600 - 1, 0).unix_s, kMarch - 1);
  const LogZone::Instant never = zone->unix_of(kMarch + 3600 + 1800, 0);  // 02:30
  EXPECT_EQ(never.unix_s, kMarch + 1800);
  EXPECT_TRUE(never.doubtful);
  const std::int64_t twice = kOctober + 3600 + 1800;  // 02:30
  EXPECT_EQ(zone->unix_of(twice, 0).unix_s, kOctober - 1800);
  EXPECT_EQ(zone->unix_of(twice, kOctober).unix_s, kOctober + 1800);
  EXPECT_TRUE(zone->unix_of(twice, 0).doubtful);
  // Lines a little out of order are no second pass through the hour; a minute is.
  EXPECT_EQ(zone->unix_of(twice, kOctober - 1799).unix_s, kOctober - 1800);
  EXPECT_EQ(zone->unix_of(twice, kOctober - 1740).unix_s, kOctober - 1800);
  EXPECT_EQ(zone->unix_of(twice, kOctober - 1739).unix_s, kOctober + 1800);
  EXPECT_EQ(zone->unix_of(twice, INT64_MIN).unix_s, kOctober - 1800);
}

TEST(LogZone, ListsBesideTheZonesAreNone) {
  if (!LogZone::parse("Europe/Berlin")) GTEST_SKIP() << "no tzdata here";
  for (const char* text : {"leapseconds", "tzdata.zi", "zone.tab", "iso3166.tab", "Europe"}) {
    EXPECT_FALSE(LogZone::parse(text).ok()) << text;
  }
}

TEST(SourceNames, EventFilesAreCutBetweenCharacters) {
  EXPECT_EQ(event_file_name(3, "rank0.json.gz"), "events/3.rank0.tev");
  EXPECT_EQ(event_file_name(0, "a b/c:d\n.json"), "events/0.c_d_.tev");
  EXPECT_EQ(event_file_name(0, "n\xff\xe9"), "events/0.n__.tev");
  std::string name = "x";
  for (int i = 0; i < 60; ++i) name += "\xc3\xa9";
  EXPECT_EQ(event_file_name(0, name), "events/0." + name.substr(0, 99) + ".tev");
}

TEST(SourceNames, FoldersTellEqualNamesApart) {
  const std::vector<InputFile> files = {
      {"", "/a/x/r.json"}, {"", "/a/y/r.json"}, {"", "/b/s.json"}};
  EXPECT_EQ(source_names(files), (std::vector<std::string>{"x/r.json", "y/r.json", "s.json"}));
}

}  // namespace
}  // namespace teller
