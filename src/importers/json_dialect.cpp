#include "importers/json_dialect.h"

#define ZLIB_CONST
#include <zlib.h>

#include <cstddef>
#include <optional>

#include "importers/json_text.h"

namespace teller {

namespace {

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

std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_blank(text[at])) ++at;
  return at;
}

}  // namespace

std::string plain_head(std::string_view head) {
  if (head.substr(0, 2) != "\x1f\x8b") return std::string(head);
  std::string text(256 << 10, '\0');
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return "";
  stream.next_in = reinterpret_cast<const Bytef*>(head.data());
  stream.avail_in = static_cast<uInt>(head.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_SYNC_FLUSH);  // what is wrong with it, its importer says
  text.resize(text.size() - stream.avail_out);
  inflateEnd(&stream);
  return text;
}

JsonDialect json_dialect(std::string_view head) {
  if (head.substr(0, 3) == "\xEF\xBB\xBF") head.remove_prefix(3);
  std::size_t at = skip_blank(head, 0);
  if (at == head.size() || head[at] != '{') return JsonDialect::kKineto;
  std::size_t depth = 0;
  while (at < head.size()) {
    const char c = head[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = json_string_end(head, at);
    if (end == kNone) break;
    const std::size_t colon = skip_blank(head, end);
    if (depth == 1 && colon < head.size() && head[colon] == ':') {
      if (const auto dialect = dialect_of_key(head.substr(at + 1, end - at - 2))) return *dialect;
    }
    at = end;
  }
  return JsonDialect::kKineto;
}

}  // namespace teller
