// Reads fields of bundle.json, which may come from anywhere: the first one that is wrong is
// remembered, and nothing is trusted after it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace teller::learn_detail {

class BundleFields {
 public:
  // `wrong` gets what is wrong first; it must outlive this and objects made of it.
  BundleFields(nlohmann::ordered_json object, std::string& wrong)
      : object_(std::move(object)), wrong_(wrong) {}

  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most) {
    const auto value = object_.value(key, nlohmann::ordered_json());
    if (!value.is_number_integer() || value < least || value > most) {
      fail(key, "a number from " + std::to_string(least) + " to " + std::to_string(most));
      return least;
    }
    return value.get<std::int64_t>();
  }
  double real(const char* key) {
    const auto value = object_.value(key, nlohmann::ordered_json());
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail(key, "a number");
      return 0;
    }
    return value.get<double>();
  }
  bool flag(const char* key) {
    const auto value = object_.value(key, nlohmann::ordered_json());
    if (!value.is_boolean()) {
      fail(key, "true or false");
      return false;
    }
    return value.get<bool>();
  }
  std::string text(const char* key) {
    const auto value = object_.value(key, nlohmann::ordered_json());
    if (!value.is_string()) {
      fail(key, "a string");
      return "";
    }
    return value.get<std::string>();
  }
  std::vector<std::string> texts(const char* key) {
    const auto value = object_.value(key, nlohmann::ordered_json());
    std::vector<std::string> list;
    if (!value.is_array()) fail(key, "an array of strings");
    if (!value.is_array()) return list;
    for (const auto& one : value) {
      if (!one.is_string()) {
        fail(key, "an array of strings");
        return list;
      }
      list.push_back(one.get<std::string>());
    }
    return list;
  }
  BundleFields object(const char* key) {
    auto value = object_.value(key, nlohmann::ordered_json());
    if (!value.is_object()) fail(key, "an object");
    return {value.is_object() ? std::move(value) : nlohmann::ordered_json::object(), wrong_};
  }
  void fail(const char* key, const std::string& wanted) {
    if (wrong_.empty()) wrong_ = std::string("\"") + key + "\" must be " + wanted;
  }

 private:
  nlohmann::ordered_json object_;
  std::string& wrong_;
};

}  // namespace teller::learn_detail
