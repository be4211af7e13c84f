#include "run_folder/labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "run_folder/locator.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLabelFileLimit = std::uint64_t{256} << 20;
constexpr const char* kFormat = "teller.labels";
constexpr const char* kFile = "labels.jsonl";
constexpr int kVersion = 1;
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::array<std::string_view, kFaultTypeCount> kFaultNames = {
    "none", "memory", "cuda_kernel", "runtime_driver", "communication", "scheduling"};
constexpr std::array<std::string_view, 4> kStateNames = {"normal", "cause", "weak", "affected"};

Json to_json(const RunLabel& run) {
  return {{"label", "run"},
          {"format", kFormat},
          {"version", kVersion},
          {"is_fault", run.is_fault},
          {"fault_type", fault_type_name(run.fault_type)},
          {"provenance",
           {{"workload", run.workload},
            {"stack", run.stack},
            {"mechanism", run.mechanism},
            {"resource", run.resource},
            {"magnitude", run.magnitude},
            {"seed", run.seed}}}};
}

Json to_json(const RequestLabel& request) {
  return {{"label", "request"},
          {"request", request.request},
          {"is_fault", request.is_fault},
          {"fault_type", fault_type_name(request.fault_type)},
          {"role", request.role}};
}

Json to_json(const OperatorLabel& op) {
  Json json = {{"layer", layer_name(op.layer)}, {"family", op.family}};
  if (op.rank >= 0) json["rank"] = op.rank;
  if (!op.request.empty()) json["request"] = op.request;
  return json;
}

Json to_json(const StepLabel& step) {
  Json json = {{"label", "step"}, {"view", view_name(step.view)}, {"number", step.number}};
  if (step.pid >= 0) json["pid"] = step.pid;
  if (step.rank >= 0) json["rank"] = step.rank;
  json["is_anomaly"] = step.state == StepState::kCause;
  json["state"] = step_state_name(step.state);
  json["fault_type"] = fault_type_name(step.fault_type);
  json["visible_in"] = step.visible_in;
  json["operators"] = Json::array();
  for (const OperatorLabel& op : step.operators) json["operators"].push_back(to_json(op));
  json["ranks"] = step.ranks;
  json["victims"] = step.victims;
  json["explanation"] = step.explanation;
  return json;
}

// Reads the fields of one line; remembers the first that is wrong.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  std::string text(const char* key) {
    const Json value = get(key);
    if (value.is_null()) return "";
    if (!value.is_string()) return fail(key, "a string"), "";
    return value.get<std::string>();
  }
  std::int64_t number(const char* key, std::int64_t missing) {
    const Json value = get(key);
    if (value.is_null()) return missing;
    if (!value.is_number_integer()) return fail(key, "a whole number"), missing;
    return value.get<std::int64_t>();
  }
  std::int32_t rank(const char* key) {
    const std::int64_t value = number(key, -1);
    if (value < -1 || value > kMostRanks) return fail(key, "a rank"), -1;
    return static_cast<std::int32_t>(value);
  }
  double real(const char* key) {
    const Json value = get(key);
    if (value.is_null()) return 0;
    if (!value.is_number() || !std::isfinite(value.get<double>())) return fail(key, "a number"), 0;
    return value.get<double>();
  }
  bool flag(const char* key) {
    const Json value = get(key);
    if (value.is_null()) return false;
    if (!value.is_boolean()) return fail(key, "true or false"), false;
    return value.get<bool>();
  }
  Json array(const char* key) {
    const Json value = get(key);
    if (value.is_null()) return Json::array();
    if (!value.is_array()) return fail(key, "an array"), Json::array();
    return value;
  }
  Json object(const char* key) {
    const Json value = get(key);
    if (value.is_null()) return Json::object();
    if (!value.is_object()) return fail(key, "an object"), Json::object();
    return value;
  }
  FaultType fault_type(const char* key) {
    const std::string name = text(key);
    if (name.empty()) return FaultType::kNone;
    const auto type = fault_type_of(name);
    if (!type)
      fail(key, "one of none, memory, cuda_kernel, runtime_driver, communication, scheduling");
    return type.value_or(FaultType::kNone);
  }
  void fail(const char* key, const char* wanted) {
    if (wrong_.empty()) wrong_ = std::string("\"") + key + "\" must be " + wanted;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  Json get(const char* key) const { return object_.value(key, Json()); }
  const Json& object_;
  std::string wrong_;
};

std::string read_run(const Json& line, RunLabel& run) {
  Fields fields(line);
  if (fields.text("format") != kFormat) return "it is not of format teller.labels";
  if (fields.number("version", 0) != kVersion) return "its version is not 1";
  run.is_fault = fields.flag("is_fault");
  run.fault_type = fields.fault_type("fault_type");
  if (run.is_fault != (run.fault_type != FaultType::kNone)) {
    fields.fail("fault_type", run.is_fault ? "a kind of fault, as is_fault is true"
                                           : "none, as is_fault is false");
  }
  const Json provenance = fields.object("provenance");
  Fields from(provenance);
  run.workload = from.text("workload");
  run.stack = from.text("stack");
  run.mechanism = from.text("mechanism");
  run.resource = from.text("resource");
  run.magnitude = from.real("magnitude");
  run.seed = static_cast<std::uint64_t>(from.number("seed", 0));
  return fields.wrong().empty() ? from.wrong() : fields.wrong();
}

std::string read_request(const Json& line, RequestLabel& request) {
  Fields fields(line);
  request.request = fields.text("request");
  request.is_fault = fields.flag("is_fault");
  request.fault_type = fields.fault_type("fault_type");
  request.role = fields.text("role");
  if (request.request.empty()) fields.fail("request", "a request's id");
  return fields.wrong();
}

std::string read_operator(const Json& json, OperatorLabel& op) {
  if (!json.is_object()) return "\"operators\" must hold objects";
  Fields fields(json);
  const auto layer = layer_of(fields.text("layer"));
  if (!layer) fields.fail("layer", "one of STEP, FE, BE, RT, K, COMM");
  op.layer = layer.value_or(Layer::kStep);
  op.family = fields.text("family");
  op.rank = fields.rank("rank");
  op.request = fields.text("request");
  return fields.wrong();
}

std::string read_state(Fields& fields, StepLabel& step) {
  const std::string state = fields.text("state");
  const auto found = std::find(kStateNames.begin(), kStateNames.end(), state);
  if (found == kStateNames.end()) return "\"state\" must be cause, weak, affected or normal";
  step.state = static_cast<StepState>(found - kStateNames.begin());
  return "";
}

std::string read_lists(Fields& fields, StepLabel& step) {
  for (const Json& json : fields.array("operators")) {
    OperatorLabel op;
    const std::string wrong = read_operator(json, op);
    if (!wrong.empty()) return wrong;
    step.operators.push_back(std::move(op));
  }
  for (const Json& json : fields.array("ranks")) {
    if (!json.is_number_integer() || json < 0 || json > kMostRanks) {
      return "\"ranks\" must hold ranks";
    }
    step.ranks.push_back(json.get<std::int32_t>());
  }
  for (const Json& json : fields.array("victims")) {
    if (!json.is_string()) return "\"victims\" must hold request ids";
    step.victims.push_back(json.get<std::string>());
  }
  return "";
}

std::string read_step(const Json& line, StepLabel& step) {
  Fields fields(line);
  const std::string view = fields.text("view");
  if (view != "vertical" && view != "horizontal") {
    return "\"view\" must be vertical or horizontal";
  }
  step.view = view == "vertical" ? View::kVertical : View::kHorizontal;
  step.number = fields.number("number", -1);
  step.pid = fields.number("pid", -1);
  step.rank = fields.rank("rank");
  step.fault_type = fields.fault_type("fault_type");
  step.visible_in = fields.text("visible_in");
  step.explanation = fields.text("explanation");
  if (step.number < 0) fields.fail("number", "the engine's step number");
  for (const std::string& wrong : {read_state(fields, step), read_lists(fields, step)}) {
    if (!wrong.empty()) return wrong;
  }
  return fields.wrong();
}

// "" or what is wrong with the line.
std::string read_line(std::string_view text, Labels& labels, bool& has_run) {
  const Json line = parse_json(text);
  if (!line.is_object()) return "it is no JSON object";
  const Json word = line.value("label", Json());
  if (word == "run") {
    if (has_run) return "it is a second line of the run";
    has_run = true;
    return read_run(line, labels.run);
  }
  if (word == "request") return read_request(line, labels.requests.emplace_back());
  if (word == "step") return read_step(line, labels.steps.emplace_back());
  return "\"label\" must be run, request or step";
}

Error bad_labels(const std::string& path, const std::string& why) {
  return {ErrorCode::kCorrupt, "reading labels " + path + ": " + why,
          "docs/labels.md says what belongs in it"};
}

}  // namespace

std::string_view fault_type_name(FaultType type) {
  return kFaultNames[static_cast<std::size_t>(type)];
}

std::optional<FaultType> fault_type_of(std::string_view name) {
  const auto found = std::find(kFaultNames.begin(), kFaultNames.end(), name);
  if (found == kFaultNames.end()) return {};
  return static_cast<FaultType>(found - kFaultNames.begin());
}

std::string_view step_state_name(StepState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

Status write_labels(const std::string& path, const Labels& labels) {
  std::string text;
  const auto add = [&](const Json& json) {
    text += json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  };
  add(to_json(labels.run));
  for (const RequestLabel& request : labels.requests) add(to_json(request));
  for (const StepLabel& step : labels.steps) add(to_json(step));
  return write_file_atomic(path, text);
}

Result<Labels> read_labels(const std::string& path) {
  TELLER_TRY(const std::string text, read_file(path, "labels", kLabelFileLimit));
  Labels labels;
  bool has_run = false;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string wrong = read_line(rest.substr(0, end), labels, has_run);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!wrong.empty()) return bad_labels(path, "line " + std::to_string(number) + ": " + wrong);
  }
  if (!has_run) return bad_labels(path, "no line with \"label\": \"run\"");
  return labels;
}

Result<Labels> open_labels(const RunFolder& run) {
  const std::string own = run.file(kFile);  // that people write does not stand in the manifest
  TELLER_CHECK_OK(run.check_listed("labels"));
  std::error_code error;
  if (run.artifact_files("labels").empty() && std::filesystem::is_regular_file(own, error)) {
    return read_labels(own);
  }
  TELLER_TRY(const std::vector<std::string> files, run.require_artifact("labels"));
  if (files.empty()) return bad_labels(run.path(), "the run's labels are empty");
  return read_labels(run.file(files.front()));
}

}  // namespace teller
