#include "importers/content_signs.h"

#include <charconv>
#include <optional>
#include <string>

#include "importers/input_stream.h"
#include "importers/json_text.h"

namespace teller {

namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kTarSumAt = 148;
constexpr std::size_t kTarSumSize = 8;

constexpr auto kNone = std::string_view::npos;

struct Key {
  std::string_view name;
  JsonDialect dialect;
};

// Keys of a top-level object that belong to one format alone. OTLP's have a second spelling, that
// of the fields' names in its protocol.
constexpr Key kKeys[] = {
    {"traceEvents", JsonDialect::kKineto},   {"nodes", JsonDialect::kExecutionTrace},
    {"resourceSpans", JsonDialect::kOtlp},   {"resource_spans", JsonDialect::kOtlp},
    {"resourceLogs", JsonDialect::kOtlp},    {"resource_logs", JsonDialect::kOtlp},
    {"resourceMetrics", JsonDialect::kOtlp}, {"resource_metrics", JsonDialect::kOtlp},
};

std::optional<JsonDialect> dialect_of_key(std::string_view key) {
  for (const Key& known : kKeys) {
    if (known.name == key) return known.dialect;
  }
  return std::nullopt;
}

// What a document shows of its kind, key by key.
class DialectSigns {
 public:
  // A key of the top-level object; `value` is the text from behind its colon on.
  void key(std::string_view written, std::string_view value) {
    std::string name;
    if (!append_unescaped(written, name)) return;
    const auto dialect = dialect_of_key(name);
    if (!dialect) return;
    const std::string_view rest = trim_blank(value.substr(0, kFirstBytes));
    const bool filled = rest.starts_with('[') && !trim_blank(rest.substr(1)).starts_with(']');
    if (filled && (!filled_ || *dialect == JsonDialect::kKineto)) filled_ = dialect;
    if (!first_) first_ = dialect;
  }
  // Events make a Chrome trace, whatever else is there; other kinds go by what is not empty.
  bool certain() const { return filled_ == JsonDialect::kKineto; }
  std::optional<JsonDialect> dialect() const { return filled_ ? filled_ : first_; }

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  std::optional<JsonDialect> first_;
  std::optional<JsonDialect> filled_;
};

std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_blank(text[at])) ++at;
  return at;
}

// A bare array of events.
JsonDialect dialect_of_array(std::string_view head, std::size_t at) {
  const std::size_t first = skip_blank(head, at + 1);
  const bool event = first < head.size() && head[first] == '{' &&
                     head.find("\"ph\"", first) != std::string_view::npos;
  return event ? JsonDialect::kKineto : JsonDialect::kNone;
}

}  // namespace

Result<std::string> inflated_head(const std::string& path, const std::atomic<bool>* stop) {
  TELLER_TRY(const auto input, InputStream::open(path, {.piece_bytes = kSignBytes, .stop = stop}));
  TELLER_TRY(const std::string_view piece, input->next());
  return std::string(piece);
}

JsonDialect json_dialect(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::size_t at = skip_blank(head, 0);
  if (at == head.size()) return JsonDialect::kNone;
  if (head[at] == '[') return dialect_of_array(head, at);
  if (head[at] != '{') return JsonDialect::kNone;
  DialectSigns signs;
  std::size_t depth = 0;
  while (at < head.size()) {
    const char c = head[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      return signs.dialect().value_or(JsonDialect::kNone);
    }
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = json_string_end(head, at);
    if (end == kNone) break;
    const std::size_t colon = skip_blank(head, end);
    if (depth == 1 && colon < head.size() && head[colon] == ':') {
      signs.key(head.substr(at + 1, end - at - 2), head.substr(colon + 1));
      if (signs.certain()) return JsonDialect::kKineto;
    }
    at = end;
  }
  if (const auto dialect = signs.dialect()) return *dialect;
  // A member before the events reaches beyond what was read, or a quote in it was swallowed.
  const bool named = head.find("\"traceEvents\"") != kNone;
  return named ? JsonDialect::kKineto : JsonDialect::kNone;
}

bool is_tar(std::string_view head) {
  if (head.size() < kTarBlock || head[0] == '\0') return false;
  unsigned sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool in_sum = i >= kTarSumAt && i < kTarSumAt + kTarSumSize;
    sum += in_sum ? unsigned{' '} : static_cast<unsigned char>(head[i]);
  }
  std::string_view field = head.substr(kTarSumAt, kTarSumSize);
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  unsigned stated = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), stated, 8);
  return error == std::errc{} && end != field.data() && stated == sum;
}

}  // namespace teller
