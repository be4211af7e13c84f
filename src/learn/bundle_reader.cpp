#include "learn/bundle_reader.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "learn/bundle_fields.h"
#include "learn/learn.h"

namespace teller::learn_detail {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kBundleLimit = std::uint64_t{64} << 20;

ModelShape read_shape(BundleFields fields) {
  ModelShape s;
  s.vocabulary = fields.whole("vocabulary", 2, kMostVocabulary);
  s.words = fields.whole("words", 2, kMostVocabulary);
  s.width = fields.whole("width", 4, kMostWidth);
  s.graph_layers = fields.whole("graph_layers", 0, kMostLayers);
  s.blocks = fields.whole("blocks", 0, kMostLayers);
  s.heads = fields.whole("heads", 1, s.width);
  s.paper = fields.flag("paper");
  s.deviations = fields.flag("deviations");
  if (s.width % s.heads != 0) fields.fail("heads", "a divisor of width");
  return s;
}

Thresholds read_thresholds(BundleFields fields) {
  Thresholds t;
  t.step = fields.real("step");
  t.pointer = fields.real("pointer");
  BundleFields agreement = fields.object("agreement");
  for (std::size_t c = 0; c < t.agreement.size(); ++c) {
    const std::string type(fault_type_name(static_cast<FaultType>(c + 1)));
    BundleFields one = agreement.object(type.c_str());
    t.agreement[c].steps = one.whole("steps", 1, 1'000'000);
    t.agreement[c].share = one.real("share");
    if (t.agreement[c].share < 0 || t.agreement[c].share > 1) one.fail("share", "from 0 to 1");
    t.agreement[c].logit = one.real("logit");
  }
  t.request = fields.real("request");
  return t;
}

Calibration read_calibration(BundleFields fields) {
  Calibration c;
  c.slope = fields.real("slope");
  c.offset = fields.real("offset");
  c.prior = fields.real("prior");
  if (c.prior <= 0 || c.prior >= 1) fields.fail("prior", "between 0 and 1");
  return c;
}

// Whether the features are those of this version, so that inputs mean what they meant.
bool same_features(const Json& names) {
  return names == Json(kFeatureNames);
}

}  // namespace

Error bad_bundle(const std::string& path, const std::string& why) {
  return {ErrorCode::kCorrupt, "reading model " + path + ": " + why,
          "give the folder that teller train wrote, or copy it again"};
}

std::string bundle_check(Json json) {
  json.erase("check");
  return sha256_text(json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

Result<Bundle> read_bundle_file(const std::string& path, Json& self_test) {
  const std::string file = path + "/" + kBundleFile;
  TELLER_TRY(const std::string text, read_file(file, "model", kBundleLimit));
  const Json json = parse_json(text);
  if (!json.is_object() || json.value("format", Json()) != kBundleFormat) {
    return bad_bundle(file, "it is no teller model");
  }
  if (json.value("version", Json()) != kBundleVersion) {
    return Error{ErrorCode::kUnsupported, "reading model " + file + ": its version is not 1",
                 "use the teller that wrote it, or train again"};
  }
  if (json.value("check", Json()) != bundle_check(json)) {
    return bad_bundle(file, "it is damaged, or was changed by hand");
  }
  if (!same_features(json.value("features", Json()))) {
    return Error{ErrorCode::kUnsupported,
                 "reading model " + file + ": it was trained on other features than this teller's",
                 "train it again"};
  }
  Bundle b;
  std::string wrong;
  BundleFields fields(json, wrong);
  b.path = path;
  b.sha256 = sha256_text(text);
  b.name = fields.text("name");
  b.vocabulary_sha256 = fields.text("vocabulary_sha256");
  b.weights_sha256 = fields.text("weights_sha256");
  b.shape = read_shape(fields.object("model"));
  b.thresholds = read_thresholds(fields.object("thresholds"));
  b.calibration = read_calibration(fields.object("calibration"));
  b.seen = fields.texts("seen");
  std::sort(b.seen.begin(), b.seen.end());  // eval looks runs up in it
  b.words = WordTable(fields.texts("words"));
  b.training_json =
      json.value("training", Json::object()).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (json.contains("encoding")) b.encoding = fields.text("encoding");  // older bundles lack it
  self_test = json.value("self_test", Json());
  if (wrong.empty() && static_cast<std::int64_t>(b.words.size()) != b.shape.words) {
    wrong = "it has " + std::to_string(b.words.size()) + " words, its model " +
            std::to_string(b.shape.words);
  }
  if (!wrong.empty()) return bad_bundle(file, wrong);
  return b;
}

}  // namespace teller::learn_detail
