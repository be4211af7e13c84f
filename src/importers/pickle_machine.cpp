#include "importers/pickle_machine.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"

namespace teller::pickle_detail {

namespace {

using Json = nlohmann::ordered_json;

Error corrupt(const std::string& why) {
  return {ErrorCode::kCorrupt, why, ""};
}

Error too_large(const std::string& why) {
  return {ErrorCode::kUnsupported, why, ""};
}

// Makes the tree of a value. What is shared in the pickle is there several times in the tree, so
// that its size is bounded here anew; a container that holds itself ends at the bound of depth.
class TreeMaker {
 public:
  TreeMaker(const std::vector<Value>& values, const PickleLimits& limits)
      : values_(values), limits_(limits) {}

  Result<Json> make(std::uint32_t index, int depth) {
    const Value& value = values_[index];
    if (depth > limits_.depth) {
      return too_large("its values are nested deeper than " + std::to_string(limits_.depth) +
                       ", or hold themselves");
    }
    if (++made_ > limits_.values) {
      return too_large("its values, shared ones written out, are more than " +
                       std::to_string(limits_.values));
    }
    switch (value.kind) {
      case Kind::kNone:
        return Json();
      case Kind::kBool:
        return Json(value.number != 0);
      case Kind::kInt:
        return Json(value.number);
      case Kind::kFloat:
        return Json(value.real);
      case Kind::kText:
        return text(value.text);
      case Kind::kDict:
        return object(value, depth);
      default:
        return array(value, depth);
    }
  }

 private:
  Result<Json> text(std::string_view bytes) {
    text_bytes_ += bytes.size();
    if (text_bytes_ > limits_.text_bytes) {
      return too_large("its strings, shared ones written out, are more than " +
                       std::to_string(limits_.text_bytes) + " bytes");
    }
    std::string valid;
    append_valid_utf8(bytes, valid);
    return Json(std::move(valid));
  }

  Result<Json> array(const Value& value, int depth) {
    Json list = Json::array();
    for (const std::uint32_t item : value.items) {
      TELLER_TRY(Json made, make(item, depth + 1));
      list.push_back(std::move(made));
    }
    return list;
  }

  Result<Json> object(const Value& value, int depth) {
    if (value.items.size() / 2 > limits_.members) {
      return too_large("a dict in it has more than " + std::to_string(limits_.members) +
                       " members");
    }
    Json made = Json::object();
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const Value& key = values_[value.items[i]];
      if (key.kind != Kind::kText && key.kind != Kind::kInt) {
        return too_large("a dict in it has a key that is neither a string nor a number");
      }
      TELLER_TRY(Json name, make(value.items[i], depth + 1));
      TELLER_TRY(Json member, make(value.items[i + 1], depth + 1));
      made[name.is_string() ? name.get<std::string>() : name.dump()] = std::move(member);
    }
    return made;
  }

  const std::vector<Value>& values_;
  const PickleLimits& limits_;
  std::size_t made_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace

Status Machine::push(Value value) {
  if (values_.size() >= limits_.values) {
    return too_large("it makes more than " + std::to_string(limits_.values) + " values");
  }
  stack_.push_back(static_cast<std::uint32_t>(values_.size()));
  values_.push_back(std::move(value));
  return {};
}

Status Machine::mark() {
  if (marks_.size() >= limits_.values) return too_large("it sets too many marks");
  marks_.push_back(stack_.size());
  return {};
}

// Values below the latest mark are out of reach until it is taken.
Status Machine::need(std::size_t count) const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor < count) return corrupt("it takes more from its stack than is there");
  return {};
}

Status Machine::pop() {
  // Python pops a mark where no value lies above it.
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
    return {};
  }
  TELLER_CHECK_OK(need(1));
  stack_.pop_back();
  return {};
}

Result<std::size_t> Machine::take_mark() {
  if (marks_.empty()) return corrupt("it asks for a mark that was not set");
  const std::size_t height = marks_.back();
  marks_.pop_back();
  return height;
}

Status Machine::pop_mark() {
  TELLER_TRY(const std::size_t height, take_mark());
  stack_.resize(height);
  return {};
}

// The stack grows by the file's own bytes here, one each, as with get().
Status Machine::duplicate() {
  TELLER_CHECK_OK(need(1));
  stack_.push_back(stack_.back());
  return {};
}

Status Machine::put(std::uint64_t slot) {
  TELLER_CHECK_OK(need(1));
  if (memo_.size() >= limits_.values) return too_large("its memo is too large");
  memo_[slot] = stack_.back();
  return {};
}

Status Machine::memoize() {
  return put(memo_.size());
}

Status Machine::get(std::uint64_t slot) {
  const auto found = memo_.find(slot);
  if (found == memo_.end()) {
    return corrupt("it asks for value " + std::to_string(slot) +
                   " of its memo, which was not put there");
  }
  stack_.push_back(found->second);
  return {};
}

// Moves what lies above `from` into the container just below it.
Status Machine::extend(Kind kind, std::size_t from) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (from <= floor) return corrupt("it adds to a container that is not there");
  Value& container = values_[stack_[from - 1]];
  if (container.kind != kind) {
    return corrupt(kind == Kind::kDict ? "it adds members to what is no dict"
                                       : "it adds items to what is no list");
  }
  if (kind == Kind::kDict && (stack_.size() - from) % 2 != 0) {
    return corrupt("it adds a key without a value");
  }
  held_ += stack_.size() - from;
  if (held_ > limits_.values) {
    return too_large("its containers hold more than " + std::to_string(limits_.values) + " items");
  }
  container.items.insert(container.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from),
                         stack_.end());
  stack_.resize(from);
  return {};
}

Status Machine::append() {
  TELLER_CHECK_OK(need(2));
  return extend(Kind::kList, stack_.size() - 1);
}

Status Machine::append_marked() {
  TELLER_TRY(const std::size_t from, take_mark());
  return extend(Kind::kList, from);
}

Status Machine::set_item() {
  TELLER_CHECK_OK(need(3));
  return extend(Kind::kDict, stack_.size() - 2);
}

Status Machine::set_marked() {
  TELLER_TRY(const std::size_t from, take_mark());
  return extend(Kind::kDict, from);
}

Status Machine::collect(Kind kind) {
  TELLER_TRY(const std::size_t from, take_mark());
  return collect(kind, stack_.size() - from);
}

Status Machine::collect(Kind kind, std::size_t count) {
  TELLER_CHECK_OK(need(count));
  if (kind == Kind::kDict && count % 2 != 0) return corrupt("it makes a dict of an odd number");
  held_ += count;
  if (held_ > limits_.values) {
    return too_large("its containers hold more than " + std::to_string(limits_.values) + " items");
  }
  Value value;
  value.kind = kind;
  const auto from = stack_.end() - static_cast<std::ptrdiff_t>(count);
  value.items.assign(from, stack_.end());
  stack_.erase(from, stack_.end());
  return push(std::move(value));
}

Result<Json> Machine::result() const {
  if (stack_.size() != 1 || !marks_.empty()) {
    return corrupt("it ends with " + std::to_string(stack_.size()) + " values, not one");
  }
  return TreeMaker(values_, limits_).make(stack_.back(), 0);
}

}  // namespace teller::pickle_detail
