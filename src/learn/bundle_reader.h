// Reads bundle.json, which may come from anywhere. Needs no LibTorch.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "learn/bundle.h"
#include "teller/result.h"

namespace teller::learn_detail {

inline constexpr const char* kBundleFormat = "teller.bundle";
inline constexpr int kBundleVersion = 1;

Error bad_bundle(const std::string& path, const std::string& why);
// Digest of everything in a bundle.json but the digest itself, its member "check".
std::string bundle_check(nlohmann::ordered_json json);
// The bundle.json of the folder `path`; its self-test goes to `self_test`. The files beside it are
// not looked at.
Result<Bundle> read_bundle_file(const std::string& path, nlohmann::ordered_json& self_test);

}  // namespace teller::learn_detail
