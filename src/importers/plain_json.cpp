#include "importers/plain_json.h"

#include <simdjson.h>

#include "importers/array_scanner.h"
#include "importers/json_text.h"

namespace teller::plain_json {

namespace {

// Shapes of tensors take two levels; what is far deeper is for those who count it.
constexpr int kMaxDepth = 16;

// Copies values token by token. Each function takes where its value begins and returns where it
// ends; null where it is no plain JSON.
class ContainerCopier {
 public:
  ContainerCopier(std::string_view text, char* out)
      : text_(text), end_(text.data() + text.size()), out_(out) {}

  const char* container(const char* at, int depth) {
    if (depth == kMaxDepth) return nullptr;
    return *at == '[' ? array(at + 1, depth) : object(at + 1, depth);
  }
  char* out() const { return out_; }

 private:
  // From behind '['.
  const char* array(const char* at, int depth) {
    *out_++ = '[';
    at = skip_blank(at, end_);
    for (bool first = true; *at != ']' || !first; first = false) {
      // The scanner of lost brackets finds out whether the event ends here.
      if (*at == '{' && event_begins(text_, static_cast<std::size_t>(at - text_.data()), 0)) {
        return nullptr;
      }
      at = value(at, depth);
      if (at == nullptr || !separator(at, ']')) return nullptr;
      if (*at == ']') break;
      at = skip_blank(at + 1, end_);
    }
    *out_++ = ']';
    return at + 1;
  }

  // From behind '{'.
  const char* object(const char* at, int depth) {
    *out_++ = '{';
    at = skip_blank(at, end_);
    for (bool first = true; *at != '}' || !first; first = false) {
      if (*at != '"') return nullptr;
      at = scalar(at);
      if (at == nullptr) return nullptr;
      at = skip_blank(at, end_);
      if (*at != ':') return nullptr;
      *out_++ = ':';
      at = value(skip_blank(at + 1, end_), depth);
      if (at == nullptr || !separator(at, '}')) return nullptr;
      if (*at == '}') break;
      at = skip_blank(at + 1, end_);
    }
    *out_++ = '}';
    return at + 1;
  }

  // Moves `at` to the comma or bracket behind a value, and copies the comma.
  bool separator(const char*& at, char bracket) {
    at = skip_blank(at, end_);
    if (*at == bracket) return true;
    *out_++ = ',';
    return *at == ',';
  }

  const char* value(const char* at, int depth) {
    return *at == '[' || *at == '{' ? container(at, depth + 1) : scalar(at);
  }

  const char* scalar(const char* at) {
    const char* end = scalar_end(at, end_);
    if (end != nullptr) out_ = copy(out_, at, static_cast<std::size_t>(end - at));
    return end;
  }

  std::string_view text_;
  const char* end_;
  char* out_;
};

}  // namespace

bool is_utf8(const char* begin, const char* end) {
  return simdjson::validate_utf8(begin, static_cast<std::size_t>(end - begin));
}

const char* string_end(const char* at, const char* end) {
  bool ascii = true;
  const char* stop = at;
  for (;;) {
    stop = string_stop(stop, end, ascii);
    if (stop >= end || (*stop != '\\' && *stop != '"')) return nullptr;
    if (*stop == '"') break;
    const std::size_t escape = json_escape({stop, static_cast<std::size_t>(end - stop)}).length;
    if (escape == 0) return nullptr;
    stop += escape;
  }
  return ascii || is_utf8(at, stop) ? stop : nullptr;
}

const char* word_end(const char* at) {
  if (std::memcmp(at, "true", 4) == 0 || std::memcmp(at, "null", 4) == 0) return at + 4;
  return std::memcmp(at, "false", 5) == 0 ? at + 5 : nullptr;
}

const char* copy_container(std::string_view text, std::size_t at, char*& out) {
  ContainerCopier copier(text, out);
  const char* end = copier.container(text.data() + at, 0);
  out = copier.out();
  return end;
}

}  // namespace teller::plain_json
