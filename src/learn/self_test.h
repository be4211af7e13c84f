// A bundle's self-test: made-up inputs and what the model said of them when it was made.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "learn/network.h"

namespace teller::learn_detail {

// Inputs are the same for all models of one shape; answers are those of `network`.
nlohmann::ordered_json make_self_test(const Network& network);
// "" if `network` answers as stored, within 1e-3 (machines round differently); else what is wrong.
std::string run_self_test(const Network& network, const nlohmann::ordered_json& stored);

}  // namespace teller::learn_detail
