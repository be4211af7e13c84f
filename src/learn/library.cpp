// The one door of libteller_learn.so.
#include <exception>

#include "learn/diagnose.h"
#include "learn/learn.h"
#include "learn/train.h"

namespace teller {

namespace {

// LibTorch throws; the rest of teller does not catch.
template <typename Work>
Result<JsonResult> guarded(const char* what, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    std::string why = error.what();
    why.resize(std::min(why.find('\n'), why.size()));
    return Error{ErrorCode::kInternal, std::string(what) + ": " + why, "please report it"};
  }
}

class LearnLibrary : public Learn {
 public:
  Result<JsonResult> train(const TrainOptions& options) override {
    return guarded("train", [&] { return learn_detail::train_model(options); });
  }
  Result<JsonResult> diagnose(RunFolder& run, const DiagnoseOptions& options) override {
    return guarded("diagnose", [&] { return learn_detail::diagnose_run(run, options); });
  }
  Result<JsonResult> evaluate(const EvalOptions& options) override {
    return guarded("eval", [&] { return learn_detail::evaluate_runs(options); });
  }
};

}  // namespace

}  // namespace teller

extern "C" __attribute__((visibility("default"))) teller::Learn* teller_learn_v1() {
  static teller::LearnLibrary library;
  return &library;
}
