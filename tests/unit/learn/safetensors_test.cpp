#include "learn/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "base/file.h"
#include "temporary_folder.h"

namespace teller::learn_detail {
namespace {

using teller::testing::TemporaryFolder;

void write_raw(const std::string& path, std::uint64_t length, const std::string& header,
               const std::string& data) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  std::ofstream(path, std::ios::binary) << file << header << data;
}

TEST(Safetensors, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const TensorMap tensors = {
      {"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{}, {7}}}, {"c", {{0, 4}, {}}}};
  ASSERT_TRUE(write_safetensors(folder.file("w"), tensors));
  const auto read = read_safetensors(folder.file("w"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ(read->at("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(read->at("a").values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read->at("b").values, std::vector<float>{7});
  EXPECT_TRUE(read->at("c").values.empty());
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("w"), {{"a", {{3}, {1, 2, 3}}}}));
  const std::string whole = *read_file(folder.file("w"), "weights", 1 << 20);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder.file("cut"), std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(read_safetensors(folder.file("cut"))) << size;
  }
}

TEST(Safetensors, LiesAboutSizesAreRefused) {
  const TemporaryFolder folder;
  const std::string four(4, '\0');
  const auto refused = [&](const std::string& header, const std::string& data) {
    write_raw(folder.file("w"), header.size(), header, data);
    return !read_safetensors(folder.file("w"));
  };
  EXPECT_FALSE(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four));
  EXPECT_TRUE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", four));
  EXPECT_TRUE(refused(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,4]}})", four));
  EXPECT_TRUE(refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", four));
  EXPECT_TRUE(
      refused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", ""));
  EXPECT_TRUE(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", four));
  EXPECT_TRUE(refused(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      four));
  EXPECT_TRUE(refused(R"({"a":7})", ""));
  EXPECT_TRUE(refused("[]", ""));
  write_raw(folder.file("w"), std::numeric_limits<std::uint64_t>::max(), "{}", "");
  EXPECT_FALSE(read_safetensors(folder.file("w")));
}

TEST(Safetensors, ValuesThatAreNotFiniteAreRefused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("w"),
                                {{"a", {{1}, {std::numeric_limits<float>::quiet_NaN()}}}}));
  const auto read = read_safetensors(folder.file("w"));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("tensor a"), std::string::npos);
}

}  // namespace
}  // namespace teller::learn_detail
