#include "dump/print.h"

#include <algorithm>
#include <ostream>
#include <string>

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// ASCII only: whatever a trace holds, it cannot steer the terminal.
std::string to_text(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool is_plain(char c) {
  return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
}

void print_value(const Json& value, std::ostream& out) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
      out << text;
      return;
    }
  }
  out << to_text(value);
}

}  // namespace

void print_record(std::string_view word, const Json& record, bool json, std::ostream& out) {
  if (json) {
    Json line = Json::object();
    line["record"] = word;
    line.update(record);
    out << to_text(line) << '\n';
    return;
  }
  out << word;
  for (const auto& [key, value] : record.items()) {
    out << ' ';
    print_value(key, out);
    out << '=';
    print_value(value, out);
  }
  out << '\n';
}

}  // namespace teller
