// One event object of a Chrome trace, taken apart but not yet understood.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto_key.h"

namespace teller {

// One member of a JSON object: the key's text between its quotes, the value as the source wrote it.
struct JsonField {
  std::string_view key;
  std::string_view value;
  KinetoKey id = KinetoKey::kOther;
  bool compact = false;  // key and value are known to be JSON, and the value holds no blanks
};

// The fields of one event. Views point into the event's text or into the parser that made it; they
// are valid until the parser's next call. A field that is missing is a view of nothing at all (its
// data() is null), and so is one that is null, but for `dur`: it is "null" then. Numbers are text;
// strings are without quotes and escapes, but for `args` and `extra`, which are raw JSON.
struct KinetoEvent {
  std::string_view ph;
  std::string_view cat;
  std::string_view name;
  std::string_view pid;
  std::string_view tid;
  std::string_view ts;
  std::string_view dur;
  std::string_view id;
  std::vector<JsonField> args;
  std::vector<JsonField> extra;  // members that no trace format of this family gives a meaning
};

// Takes any event apart that can be, with simdjson. Not thread-safe.
class KinetoEventParser {
 public:
  // Readable bytes that `text` must have behind it.
  static constexpr std::size_t kPadding = 64;

  enum class Outcome {
    kGood,
    kNeedsRepair,  // a string holds what JSON forbids; try again with repair_json()
    kMalformed,
  };

  KinetoEventParser();
  ~KinetoEventParser();
  Outcome parse(std::string_view text, KinetoEvent& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace teller
