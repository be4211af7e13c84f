// The stack machine of a pickle: its values, its stack, its marks and its memo. Private to
// pickle_reader.cpp and its parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/pickle_reader.h"

namespace teller::pickle_detail {

enum class Kind : std::uint8_t { kNone, kBool, kInt, kFloat, kText, kList, kTuple, kDict };

// A value. Texts point into the file. A dict's items are keys and values in turn.
struct Value {
  Kind kind = Kind::kNone;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<std::uint32_t> items;
};

// Values are named by their index: containers may share them, and may even hold themselves.
class Machine {
 public:
  explicit Machine(const PickleLimits& limits) : limits_(limits) {}

  // Each fails with what is wrong; the caller adds where.
  Status push(Value value);
  Status mark();
  Status pop();
  Status pop_mark();
  Status duplicate();
  Status put(std::uint64_t slot);
  Status memoize();
  Status get(std::uint64_t slot);
  Status append();         // one item to the list below it
  Status append_marked();  // all items above the mark
  Status set_item();
  Status set_marked();
  // A container of the items above the mark, or of the top `count`.
  Status collect(Kind kind);
  Status collect(Kind kind, std::size_t count);
  // The tree of the only value left.
  Result<nlohmann::ordered_json> result() const;

 private:
  Result<std::size_t> take_mark();
  Status need(std::size_t count) const;
  Status extend(Kind kind, std::size_t from);

  const PickleLimits& limits_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, std::uint32_t> memo_;
  std::size_t held_ = 0;  // items of all containers
};

// Why an opcode is not run: it makes or calls objects, holds what no flight recorder writes, or is
// none.
Error refused_opcode(unsigned char opcode);

}  // namespace teller::pickle_detail
