#include "learn/bundle.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "learn/bundle_reader.h"
#include "learn/learn.h"
#include "learn/self_test.h"

namespace teller::learn_detail {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kBundleLimit = std::uint64_t{64} << 20;
constexpr std::uint64_t kBaselineLimit = std::uint64_t{256} << 20;  // as slice reads them

Json shape_json(const ModelShape& s) {
  return {{"vocabulary", s.vocabulary}, {"words", s.words},
          {"width", s.width},           {"graph_layers", s.graph_layers},
          {"blocks", s.blocks},         {"heads", s.heads},
          {"paper", s.paper},           {"deviations", s.deviations}};
}

Json agreement_json(const Thresholds& t) {
  Json json;
  for (std::size_t c = 0; c < t.agreement.size(); ++c) {
    json[std::string(fault_type_name(static_cast<FaultType>(c + 1)))] = {
        {"steps", t.agreement[c].steps},
        {"share", t.agreement[c].share},
        {"logit", t.agreement[c].logit}};
  }
  return json;
}

Json bundle_json(const Bundle& b, const Json& self_test, const std::string& weights_sha256) {
  const Thresholds& t = b.thresholds;
  const Calibration& c = b.calibration;
  return {{"format", kBundleFormat},
          {"version", kBundleVersion},
          {"name", b.name},
          {"made_by", {{"name", "teller"}, {"version", kVersion}}},
          {"features", kFeatureNames},
          {"model", shape_json(b.shape)},
          {"vocabulary_sha256", b.vocabulary_sha256},
          {"encoding", b.encoding},
          {"weights_sha256", weights_sha256},
          {"thresholds",
           {{"step", t.step},
            {"pointer", t.pointer},
            {"agreement", agreement_json(t)},
            {"request", t.request}}},
          {"calibration", {{"slope", c.slope}, {"offset", c.offset}, {"prior", c.prior}}},
          {"training", parse_json(b.training_json)},
          {"self_test", self_test},
          {"seen", b.seen},
          {"words", b.words.words()}};
}

Status write_parts(const std::string& folder, const Bundle& bundle, const Network& network,
                   const std::string& vocabulary, const std::string& baseline) {
  const std::string weights = folder + "/" + kBundleWeights;
  TELLER_CHECK_OK(write_safetensors(weights, network.tensors()));
  TELLER_TRY(const std::string weights_sha256, sha256_file(weights));
  Json json = bundle_json(bundle, make_self_test(network), weights_sha256);
  json["check"] = bundle_check(json);
  const std::string text = json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  TELLER_TRY(const std::string tpe, read_file(vocabulary, "vocabulary", kBundleLimit));
  TELLER_CHECK_OK(write_file_atomic(folder + "/" + kBundleVocabulary, tpe));
  if (!baseline.empty()) {
    TELLER_TRY(const std::string healthy, read_file(baseline, "baseline", kBaselineLimit));
    TELLER_CHECK_OK(write_file_atomic(folder + "/" + kBundleBaseline, healthy));
  }
  return write_file_atomic(folder + "/" + kBundleFile, text);
}

// `path` without a slash behind it.
fs::path folder_of(const std::string& path) {
  const fs::path folder(path);
  return folder.has_filename() ? folder : folder.parent_path();
}

// Puts the folder `made` in the place of `path`.
Status put_in_place(const std::string& made, const std::string& path) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EEXIST && errno != ENOTEMPTY && errno != EINVAL) {
    return errno_error("writing model " + path, errno);
  }
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
    return errno_error("writing model " + path, errno);
  }
  std::error_code ignored;
  fs::remove_all(made, ignored);
  return {};
}

}  // namespace

Result<LoadedBundle> load_bundle(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return Error{ErrorCode::kNotFound, "opening model " + path + ": there is no model in it",
                 "give the folder that teller train wrote with --model"};
  }
  Json self_test;
  TELLER_TRY(Bundle bundle, read_bundle_file(path, self_test));
  const std::string vocabulary = path + "/" + kBundleVocabulary;
  TELLER_TRY(const std::string sha256, sha256_file(vocabulary));
  if (sha256 != bundle.vocabulary_sha256) {
    return bad_bundle(vocabulary, "it is not the vocabulary that the model was trained with");
  }
  bundle.has_baseline = fs::exists(path + "/" + kBundleBaseline, error);
  const std::string weights = path + "/" + kBundleWeights;
  TELLER_TRY(const std::string weights_sha256, sha256_file(weights));
  if (weights_sha256 != bundle.weights_sha256) {
    return bad_bundle(weights, "they are not the weights that the model was saved with");
  }
  TELLER_TRY(const TensorMap tensors, read_safetensors(weights));
  TELLER_TRY(Network network, Network::load(bundle.shape, tensors));
  if (const std::string wrong = run_self_test(network, self_test); !wrong.empty()) {
    return bad_bundle(path, wrong);
  }
  return LoadedBundle{std::move(bundle), std::move(network)};
}

Status check_tokens(const RunInput& run, const Bundle& bundle, const std::string& what) {
  if (run.vocabulary != bundle.vocabulary_sha256) {
    return Error{
        ErrorCode::kStale,
        what + " run " + run.path +
            ": its tokens were made with another vocabulary than the model's",
        "run teller encode " + run.path + " --vocab " + bundle.path + "/" + kBundleVocabulary};
  }
  if (!bundle.encoding.empty() && run.encoding != bundle.encoding) {
    return Error{ErrorCode::kStale,
                 what + " run " + run.path + ": its tokens are encoded as " + run.encoding +
                     ", those that the model was trained on as " + bundle.encoding,
                 "encode it again, with the options of the training"};
  }
  return {};
}

Status check_place(const std::string& path) {
  std::error_code error;
  const fs::path target = folder_of(path);
  if (fs::exists(target, error) && !fs::exists(target / kBundleFile, error) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
    return Error{ErrorCode::kUsage, "writing model " + path + ": something else is there",
                 "give another folder with -o"};
  }
  return {};
}

Status save_bundle(const Bundle& bundle, const Network& network, const std::string& vocabulary,
                   const std::string& baseline) {
  TELLER_CHECK_OK(check_place(bundle.path));
  std::error_code error;
  const fs::path target = folder_of(bundle.path);
  const std::string made = target.string() + ".part-" + std::to_string(::getpid());
  fs::remove_all(made, error);
  fs::create_directories(made, error);
  if (error) return errno_error("writing model " + made, error.value());
  Status status = write_parts(made, bundle, network, vocabulary, baseline);
  if (status) status = put_in_place(made, target.string());
  if (!status) fs::remove_all(made, error);
  return status;
}

}  // namespace teller::learn_detail
