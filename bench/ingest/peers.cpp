// The C++ peers of bench/ingest/run: take the fields of each event of a Kineto trace, build
// nothing.
//   peers simdjson FILE     on-demand, over windows of 1 MiB of a file whose events begin at "\n
//   {\n" peers nlohmann FILE     SAX
// Prints one JSON object: events, sum of time stamps and of durations (ns, modulo 2^64), the
// version.
#include <simdjson.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
constexpr const char* kSimdjson = TEXT(SIMDJSON_VERSION);
constexpr const char* kNlohmann = TEXT(NLOHMANN_JSON_VERSION_MAJOR) "." TEXT(
    NLOHMANN_JSON_VERSION_MINOR) "." TEXT(NLOHMANN_JSON_VERSION_PATCH);

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t text_bytes = 0;  // of names and categories
  std::uint64_t ids = 0;         // sum of correlation and External ids
};

// "12.345" microseconds, exactly.
std::uint64_t nanoseconds(std::string_view text) {
  std::uint64_t value = 0;
  int decimals = -1;
  for (const char letter : text) {
    if (letter == '.') {
      decimals = 0;
    } else if (letter >= '0' && letter <= '9' && decimals < 3) {
      value = value * 10 + static_cast<std::uint64_t>(letter - '0');
      if (decimals >= 0) ++decimals;
    }
  }
  for (int at = decimals < 0 ? 0 : decimals; at < 3; ++at) value *= 10;
  return value;
}

void take_arguments(simdjson::ondemand::object arguments, Totals& totals) {
  for (auto field : arguments) {
    const simdjson::ondemand::raw_json_string key = field.key();
    if (key == "correlation" || key == "External id") {
      totals.ids += std::uint64_t(field.value().get_uint64());
    }
  }
}

void take_event(simdjson::ondemand::object event, Totals& totals) {
  ++totals.events;
  for (auto field : event) {
    const simdjson::ondemand::raw_json_string key = field.key();
    if (key == "ts") {
      totals.time_ns += nanoseconds(field.value().raw_json_token());
    } else if (key == "dur") {
      totals.duration_ns += nanoseconds(field.value().raw_json_token());
    } else if (key == "name" || key == "cat" || key == "ph") {
      totals.text_bytes += std::string_view(field.value().get_string()).size();
    } else if (key == "args") {
      take_arguments(field.value().get_object(), totals);
    }
  }
}

// Parses the whole events of `text` ("\n  {\n" up to "\n  }") as one array, for which it puts
// brackets around them; answers where the rest begins. Behind `text` are SIMDJSON_PADDING bytes
// more.
std::size_t take_window(simdjson::ondemand::parser& parser, char* text, std::size_t size,
                        Totals& totals) {
  const std::string_view view(text, size);
  const std::size_t begin = view.find("\n  {\n");
  const std::size_t last = view.rfind("\n  }");
  if (begin == std::string_view::npos || last == std::string_view::npos || last < begin) {
    return begin != std::string_view::npos ? begin : size < 4 ? 0 : size - 4;
  }
  const std::size_t end = last + 4;
  const char after = text[end];
  text[begin] = '[';
  text[end] = ']';
  auto document = parser.iterate(simdjson::padded_string_view(
      text + begin, end + 1 - begin, end + 1 - begin + simdjson::SIMDJSON_PADDING));
  for (auto event : document.get_array()) take_event(event.get_object(), totals);
  text[end] = after;
  return end;
}

Totals read_simdjson(const char* path) {
  constexpr std::size_t kWindow = 1 << 20;
  Totals totals;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) throw std::runtime_error("cannot be opened");
  std::vector<char> buffer(2 * kWindow + 1 + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::parser parser;
  std::size_t kept = 0;
  for (;;) {
    const std::size_t got = std::fread(buffer.data() + kept, 1, kWindow, file);
    if (got == 0) break;
    const std::size_t size = kept + got;
    const std::size_t done = take_window(parser, buffer.data(), size, totals);
    kept = size - done;
    std::memmove(buffer.data(), buffer.data() + done, kept);
  }
  std::fclose(file);
  return totals;
}

// Depth 1 is the document, 2 the events' array, 3 an event, 4 its arguments.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Totals totals;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(std::uint64_t(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool number_float(number_float_t, const string_t& text) override {
    if (depth_ == 3 && in_events_) time(nanoseconds(text));
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 3 && in_events_ && (key_ == "name" || key_ == "cat" || key_ == "ph")) {
      totals.text_bytes += text.size();
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    ++depth_;
    totals.events += in_events_ && depth_ == 3 ? 1 : 0;
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override {
    if (depth_ == 1) in_events_ = key_ == "traceEvents";
    return ++depth_, true;
  }
  bool end_array() override {
    if (--depth_ == 1) in_events_ = false;
    return true;
  }
  bool key(string_t& text) override { return key_ = text, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool number(std::uint64_t value) {
    if (!in_events_) return true;
    if (depth_ == 3) time(value * 1000);
    if (depth_ == 4 && (key_ == "correlation" || key_ == "External id")) totals.ids += value;
    return true;
  }
  void time(std::uint64_t ns) {
    if (key_ == "ts") totals.time_ns += ns;
    if (key_ == "dur") totals.duration_ns += ns;
  }

  std::string key_;
  int depth_ = 0;
  bool in_events_ = false;
};

Totals read_nlohmann(const char* path) {
  Handler handler;
  std::ifstream file(path);
  if (!nlohmann::json::sax_parse(file, &handler)) throw std::runtime_error("is no JSON");
  return handler.totals;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const bool simd = std::strcmp(words[1], "simdjson") == 0;
  const Totals totals = simd ? read_simdjson(words[2]) : read_nlohmann(words[2]);
  std::printf(
      "{\"version\": \"%s\", \"events\": %llu, \"time_ns\": %llu, \"duration_ns\": %llu, "
      "\"text_bytes\": %llu, \"ids\": %llu}\n",
      simd ? kSimdjson : kNlohmann, static_cast<unsigned long long>(totals.events),
      static_cast<unsigned long long>(totals.time_ns),
      static_cast<unsigned long long>(totals.duration_ns),
      static_cast<unsigned long long>(totals.text_bytes),
      static_cast<unsigned long long>(totals.ids));
  return 0;
}
