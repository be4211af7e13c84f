// reconstruct.json for people.
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "base/terminal.h"
#include "reconstruct/summary_parts.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// What the shares of `coverage` are called, and what stands there when there is nothing to share.
struct ShareWords {
  const char* key;
  const char* label;
  const char* nothing;
};
constexpr std::array<ShareWords, 10> kShares = {{
    {"device_bound_to_calls", "kernels and copies bound to the call that launched them",
     "no kernel or copy was recorded"},
    {"calls_in_ranges", "runtime calls inside a range", "no runtime call was recorded"},
    {"ranges_in_steps", "ranges inside a step", "no range was recorded"},
    {"calls_in_steps", "runtime calls inside a step", "no runtime call was recorded"},
    {"device_in_steps", "kernels and copies of a step", "no kernel or copy was recorded"},
    {"steps_with_rows", "steps whose schedule was recorded", "no step was found"},
    {"steps_with_requests", "steps with requests", "no step was found"},
    {"logs_aligned", "log lines aligned to a step or request", "no log line was recorded"},
    {"device_with_role", "kernels and copies whose role is known",
     "no kernel or copy was recorded"},
    {"device_time_with_role", "the same by their time", "no time of a device was recorded"},
}};

const ShareWords* words_of(const std::string& key) {
  for (const ShareWords& words : kShares) {
    if (key == words.key) return &words;
  }
  return nullptr;
}

std::string spaced(const std::string& key) {
  std::string label = key;
  for (char& c : label) c = c == '_' ? ' ' : c;
  return label;
}

std::string time_text(const Json& ns) {
  const double time = ns.get<double>();
  char text[40];
  if (time < 1e6) {
    std::snprintf(text, sizeof text, "%.3f us", time / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3f ms", time / 1e6);
  }
  return text;
}

constexpr std::size_t kNarrow = 26;
constexpr std::size_t kWide = 56;  // room for the words of shares

class Text {
 public:
  explicit Text(const Json& report) : report_(report) {}

  std::string make() {
    out_ = "records\n";
    for (const auto& [name, count] : report_["total"]["records"].items()) {
      if (name == "records_in" || count != 0) line(spaced(name), count.dump());
    }
    add_coverage();
    add_roles();
    out_ += "counters that are not zero\n";
    for (const auto& [name, count] : report_["counters"].items()) {
      if (count != 0) line(spaced(name), count.dump());
    }
    add_losses();
    for (const Json& note : report_["notes"]) {
      out_ += "note: " + printable(note.get<std::string>()) + "\n";
    }
    return std::move(out_);
  }

 private:
  void add_coverage() {
    out_ += "coverage\n";
    for (const auto& [name, value] : report_["coverage"].items()) {
      if (value.contains("of")) {
        const ShareWords* const words = words_of(name);
        const bool nothing = value["share"].is_null() && words != nullptr;
        line(words == nullptr ? spaced(name) : words->label,
             nothing ? words->nothing : share_text(name, value), kWide);
      } else {
        line(spaced(name), value.is_object() ? layers_text(value) : value.dump(), kWide);
      }
    }
  }

  void add_roles() {
    const Json& roles = report_["roles"]["device"];
    if (roles.empty()) return;
    out_ += "time of the device by role\n";
    for (const Json& role : roles) {
      line(spaced(role["role"].get<std::string>()),
           time_text(role["time_ns"]) + " in " + role["count"].dump());
    }
    for (const Json& name : report_["roles"]["device_without"]) {
      line("no role", time_text(name["time_ns"]) + " in " + name["count"].dump() + ": " +
                          printable(name["name"].get<std::string>()).substr(0, 80));
    }
  }

  void add_losses() {
    for (const Json& source : report_["sources"]) {
      if (!source.contains("losses")) continue;
      out_ += "lost or mended before, in " + printable(source["source"].get<std::string>()) + "\n";
      for (const auto& [name, count] : source["losses"].items()) line(spaced(name), count.dump());
    }
  }

  // Keys and values may hold words of the trace.
  void line(const std::string& text, const std::string& value, std::size_t width = kNarrow) {
    const std::string label = printable(text);
    out_ += "  " + label + std::string(label.size() < width ? width - label.size() : 1, ' ') +
            printable(value) + "\n";
  }

  static std::string share_text(const std::string& key, const Json& value) {
    const bool time = key == "device_time_with_role";
    std::string text = time ? time_text(value["count"]) + " of " + time_text(value["of"])
                            : value["count"].dump() + " of " + value["of"].dump();
    if (value["share"].is_null()) return text;
    char percent[32];
    std::snprintf(percent, sizeof percent, " (%.1f %%)", value["share"].get<double>() * 100);
    return text + percent;
  }

  static std::string layers_text(const Json& layers) {
    std::string text;
    for (const auto& [name, count] : layers.items()) {
      text += (text.empty() ? "" : ", ") + name + " " + count.dump();
    }
    return text;
  }

  const Json& report_;
  std::string out_;
};

}  // namespace

std::string summary_text(const Json& report) {
  return Text(report).make();
}

}  // namespace teller
