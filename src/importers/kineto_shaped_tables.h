// What the numbers in shaped events mean. The shaper that gives them may go on to give new ones
// while another thread asks about those that it has.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto_categories.h"
#include "importers/kineto_places.h"

namespace teller {

struct ShapedCategory {
  std::string text;
  std::optional<KinetoCategory> meaning;
};

class ShapedTables {
 public:
  // Add what has the next number. The texts of names and places must outlive this.
  void add_name(std::string_view name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
  }
  void add_place(const KinetoPlace& place) {
    const std::lock_guard lock(mutex_);
    places_.push_back(place);
  }
  void add_category(const ShapedCategory& category) {
    const std::lock_guard lock(mutex_);
    categories_.push_back(category);
  }
  // All numbers are given anew.
  void forget() {
    const std::lock_guard lock(mutex_);
    names_.resize(1);
    places_.clear();
    categories_.clear();
  }

  std::string_view name(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return names_[number];
  }
  KinetoPlace place(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return places_[number];
  }
  ShapedCategory category(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return categories_[number];
  }

 private:
  mutable std::mutex mutex_;                                 // guards all below
  std::vector<std::string_view> names_{std::string_view{}};  // 0 is ""
  std::vector<KinetoPlace> places_;
  std::vector<ShapedCategory> categories_;
};

}  // namespace teller
