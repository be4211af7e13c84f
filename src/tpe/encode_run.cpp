// encode(): the tokens of a run.
#include <nlohmann/json.hpp>

#include "run_folder/open_chains.h"
#include "tpe/token_maker.h"
#include "tpe/tpe.h"

namespace teller {

namespace {

constexpr const char* kFile = "tokens.tcol";

std::string options_text(const tpe::Vocabulary& vocabulary, const EncodeOptions& options) {
  nlohmann::ordered_json json;
  json["vocab_sha256"] = vocabulary.sha256;
  json["vocab_size"] = vocabulary.size();
  json["protected"] = options.protect;
  json["self_time"] = options.self_time;
  json["whole_step"] = options.whole_step;
  return json.dump();
}

Status publish(RunFolder& run, const std::string& options_json, std::uint64_t records) {
  ArtifactInfo info;
  info.name = "tokens";
  info.files = {kFile};
  info.made_by = "encode";
  info.records = records;
  info.from = {"chains", "slices"};
  info.options_json = options_json;
  TELLER_CHECK_OK(run.publish(info));
  return run.save();
}

}  // namespace

Result<EncodeSummary> encode(RunFolder& run, const EncodeOptions& options) {
  TELLER_TRY(const tpe::Vocabulary vocabulary, tpe::read_vocabulary(options.vocabulary));
  if (!vocabulary.of_runs) {
    return Error{ErrorCode::kUsage,
                 "encode: vocabulary " + options.vocabulary + " was made from plain sequences",
                 "make one from runs with teller tpe-train RUN… -o FILE"};
  }
  TELLER_TRY(const Chains chains, open_chains(run));
  TELLER_TRY(const Slices slices, open_slices(run, chains));
  tpe::TokenMaker maker(vocabulary, chains, slices, options);
  for (std::uint32_t unit = 0; unit < slices.unit_count(); ++unit) {
    maker.add(unit);
    if (maker.tokens().token_nodes.node.size() >= kNoIndex / 2) {
      return Error{ErrorCode::kUnsupported, "encode: run " + run.path() + " has too many nodes",
                   "encode it without --whole-step"};
    }
  }
  TELLER_CHECK_OK(maker.tokens().write(run.file(kFile)));
  TELLER_CHECK_OK(publish(run, options_text(vocabulary, options), maker.tokens().tokens.id.size()));
  EncodeSummary summary;
  summary.views[0] = maker.counts(View::kVertical);
  summary.views[1] = maker.counts(View::kHorizontal);
  summary.vocabulary_sha256 = vocabulary.sha256;
  return summary;
}

}  // namespace teller
