// What localising finds, before it becomes JSON (findings_json.h).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_folder/chains.h"

namespace teller::slice_detail {

using Json = nlohmann::ordered_json;

// One thing that speaks for a request, or for the run as a whole.
struct Reason {
  std::string kind;  // "slow_operator", "passed_over", "preempted", …: docs/localise.md lists them
  std::string text;  // plain words
  double score = 0;  // how often its threshold is reached; >= 1 where it is suspicious
  bool suspicious = true;
  Json effect = Json::object();      // its numbers
  std::vector<std::uint32_t> steps;  // indices, in order
  Json operators = Json::array();    // {layer, family, phase, ratio, excess_ns}
  std::vector<std::uint32_t> nodes;  // evidence, strongest first
};

struct RequestFinding {
  std::uint32_t request = kNoIndex;
  double score = 0;
  std::vector<Reason> reasons;  // strongest first
};

// A family that differs from the baseline in the run as a whole.
struct OperatorFinding {
  std::string kind;  // "slower", "extra", "missing"
  std::uint32_t key = 0;
  double ratio = 1;           // to the baseline
  double relative_ratio = 1;  // the same over the ratio of all operators together
  double z = 0;
  double step_share = 0;  // excess over the time of all steps
  std::size_t instances = 0;
  std::size_t steps = 0;
  double score = 0;
  bool suspicious = false;
};

struct InstanceFinding {
  std::uint32_t node = 0;
  double z = 0;  // asinh(residual / spread) of its self time
  double ratio = 1;
  std::int64_t excess_ns = 0;
};

struct Findings {
  std::vector<RequestFinding> requests;    // most suspicious first
  std::vector<Reason> run;                 // what concerns no single request
  std::vector<OperatorFinding> operators;  // most suspicious first
  std::vector<InstanceFinding> instances;  // largest excess first
  std::vector<std::string> notes;          // what could not be judged, and why

  // Adds a reason to the request's finding. Not after `requests` was sorted.
  void blame(std::uint32_t request, Reason reason) {
    const auto [place, is_new] = places_.try_emplace(request, requests.size());
    if (is_new) requests.push_back({request, 0, {}});
    requests[place->second].reasons.push_back(std::move(reason));
  }

 private:
  std::map<std::uint32_t, std::size_t> places_;  // of requests in `requests`
};

}  // namespace teller::slice_detail
