#include "stats/context_text.h"

#include <cstdio>

#include "base/terminal.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

std::string bytes_text(double bytes) {
  char text[32];
  const bool large = bytes >= 1e9;
  std::snprintf(text, sizeof text, large ? "%.2f GB" : "%.1f MB", bytes / (large ? 1e9 : 1e6));
  return text;
}

std::string value_text(const std::string& key, const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (!value.is_number()) return value.is_null() ? "none" : printable(value.dump());
  const double number = value.get<double>();
  char text[48];
  if (key.starts_with("memory") || key.starts_with("rss")) return bytes_text(number);
  if (key.ends_with("_ns")) {
    std::snprintf(text, sizeof text, "%.2f s", number / 1e9);
    return text;
  }
  if (key == "power_mw_max") {
    std::snprintf(text, sizeof text, "%.0f W", number / 1e3);
    return text;
  }
  if (value.is_number_integer()) return value.dump();
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string label_of(std::string key) {
  for (const std::string_view unit : {"_ns", "_mw_max"}) {
    if (key.ends_with(unit)) key.resize(key.size() - unit.size());
  }
  for (char& c : key) c = c == '_' ? ' ' : c;
  return key;
}

void add_line(std::string& out, const std::string& head, const Json& object, const char* skipped) {
  std::string line = "  " + head;
  line.resize(std::max<std::size_t>(line.size() + 1, 28), ' ');
  bool first = true;
  for (const auto& [key, value] : object.items()) {
    if (key == skipped) continue;
    if (value.is_object()) {
      for (const auto& [what, count] : value.items()) {
        line += (first ? "" : ", ") + printable(what) + " in " + count.dump() + " samples";
        first = false;
      }
      continue;
    }
    line += (first ? "" : ", ") + label_of(key) + " " + value_text(key, value);
    first = false;
  }
  out += line + "\n";
}

void add_list(std::string& out, const Json& stats, const char* list, const std::string& word,
              const char* key) {
  const auto found = stats.find(list);
  if (found == stats.end()) return;
  for (const Json& entry : *found) {
    const std::string name =
        entry[key].is_string() ? entry[key].get<std::string>() : entry[key].dump();
    add_line(out, word + " " + printable(name), entry, key);
  }
}

}  // namespace

std::string context_text(const Json& stats) {
  if (!stats.is_object()) return "";
  std::string out = "context: " + stats["records"].dump() + " samples\n";
  add_list(out, stats, "processes", "process", "pid");
  if (stats.contains("host")) add_line(out, "host", stats["host"], "");
  add_list(out, stats, "cgroups", "control group", "path");
  add_list(out, stats, "gpus", "GPU", "gpu");
  add_list(out, stats, "engines", "engine", "url");
  return out;
}

}  // namespace teller
