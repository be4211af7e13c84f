#include "learn/bundle.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "learn/learn.h"
#include "temporary_folder.h"

namespace teller::learn_detail {
namespace {

using Json = nlohmann::ordered_json;
using teller::testing::TemporaryFolder;

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() : network(Network::create(shape(), 3)) {
    std::ofstream(folder.file("tpe.json")) << "{}";
    bundle.path = folder.file("model");
    bundle.name = "model";
    bundle.shape = shape();
    bundle.words = WordTable({"a", "b"});
    bundle.vocabulary_sha256 = *sha256_file(folder.file("tpe.json"));
    bundle.seen = {"x"};
  }

  static ModelShape shape() {
    ModelShape s;
    s.vocabulary = 16;
    s.words = 4;
    s.width = 8;
    s.heads = 2;
    return s;
  }
  Status save() { return save_bundle(bundle, network, folder.file("tpe.json"), ""); }
  // Changes bundle.json by `change` and says what loading it answers.
  template <typename Change>
  std::string error_after(Change&& change) {
    EXPECT_TRUE(save());
    const std::string path = bundle.path + "/" + kBundleFile;
    Json json = parse_json(*read_file(path, "bundle", 1 << 24));
    change(json);
    std::ofstream(path) << json.dump();
    const auto loaded = load_bundle(bundle.path);
    return loaded ? "" : loaded.error().message;
  }

  TemporaryFolder folder;
  Network network;
  Bundle bundle;
};

TEST_F(BundleTest, ComesBackAsItWasSaved) {
  bundle.thresholds.pointer = -0.25;
  bundle.thresholds.agreement[2] = {7, 0.5};
  bundle.calibration = {2, -1, 0.4};
  ASSERT_TRUE(save());
  const auto loaded = load_bundle(bundle.path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->bundle.shape, shape());
  EXPECT_EQ(loaded->bundle.thresholds.agreement[2].steps, 7);
  EXPECT_DOUBLE_EQ(loaded->bundle.thresholds.agreement[2].share, 0.5);
  EXPECT_DOUBLE_EQ(loaded->bundle.thresholds.pointer, -0.25);
  EXPECT_DOUBLE_EQ(loaded->bundle.calibration.prior, 0.4);
  EXPECT_EQ(loaded->bundle.words.words(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(loaded->bundle.seen, std::vector<std::string>{"x"});
}

TEST_F(BundleTest, SavingTwiceGivesTheSameBytesAndLeavesNothingElse) {
  ASSERT_TRUE(save());
  const std::string weights = *read_file(bundle.path + "/" + kBundleWeights, "weights", 1 << 24);
  const std::string text = *read_file(bundle.path + "/" + kBundleFile, "bundle", 1 << 24);
  ASSERT_TRUE(save());
  EXPECT_EQ(*read_file(bundle.path + "/" + kBundleWeights, "weights", 1 << 24), weights);
  EXPECT_EQ(*read_file(bundle.path + "/" + kBundleFile, "bundle", 1 << 24), text);
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    entries += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(entries, 1U);
}

TEST_F(BundleTest, DoesNotReplaceWhatIsNoBundle) {
  std::filesystem::create_directories(bundle.path);
  std::ofstream(bundle.path + "/precious") << "x";
  EXPECT_FALSE(save());
  EXPECT_TRUE(std::filesystem::exists(bundle.path + "/precious"));
}

TEST_F(BundleTest, WeightsThatChangedFailTheSelfTest) {
  ASSERT_TRUE(save());
  TensorMap tensors = network.tensors();
  tensors["type_head.0.weight"].values[0] += 0.5F;
  ASSERT_TRUE(write_safetensors(bundle.path + "/" + kBundleWeights, tensors));
  const auto loaded = load_bundle(bundle.path);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("self-test"), std::string::npos);
}

TEST_F(BundleTest, AnotherVocabularyIsRefused) {
  ASSERT_TRUE(save());
  std::ofstream(bundle.path + "/" + kBundleVocabulary) << "{} ";
  EXPECT_FALSE(load_bundle(bundle.path));
}

TEST_F(BundleTest, WrongFieldsAreNamed) {
  const auto says = [&](auto change, const char* word) {
    const std::string message = error_after(change);
    return message.find(word) != std::string::npos;
  };
  EXPECT_TRUE(says([](Json& j) { j["model"]["width"] = 1'000'000'000; }, "width"));
  EXPECT_TRUE(says([](Json& j) { j["model"]["heads"] = 3; }, "heads"));
  EXPECT_TRUE(says([](Json& j) { j["model"]["vocabulary"] = "many"; }, "vocabulary"));
  EXPECT_TRUE(says([](Json& j) { j["thresholds"]["agreement"]["memory"]["steps"] = 0; }, "steps"));
  EXPECT_TRUE(says([](Json& j) { j["calibration"]["prior"] = 1; }, "prior"));
  EXPECT_TRUE(says([](Json& j) { j.erase("thresholds"); }, "thresholds"));
  EXPECT_TRUE(says([](Json& j) { j["words"].push_back("c"); }, "words"));
  EXPECT_TRUE(says([](Json& j) { j["features"][0] = "other"; }, "features"));
  EXPECT_TRUE(says([](Json& j) { j["version"] = 2; }, "version"));
  EXPECT_TRUE(says([](Json& j) { j["self_test"] = 7; }, "self-test"));
  EXPECT_TRUE(says([](Json& j) { j = Json::array(); }, "no teller model"));
}

TEST_F(BundleTest, MissingPiecesAreRefused) {
  for (const char* piece : {kBundleFile, kBundleWeights, kBundleVocabulary}) {
    ASSERT_TRUE(save());
    std::filesystem::remove(bundle.path + "/" + piece);
    EXPECT_FALSE(load_bundle(bundle.path)) << piece;
    std::filesystem::remove_all(bundle.path);
  }
  EXPECT_FALSE(load_bundle(folder.file("nowhere")));
}

}  // namespace
}  // namespace teller::learn_detail
