#include "importers/otlp_content.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "importers/otlp_values.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Names of conventions: all below them is content, whatever it is. A name ends here or goes on
// behind a point.
constexpr std::string_view kConventions[] = {"gen_ai.prompt",
                                             "gen_ai.completion",
                                             "gen_ai.input.messages",
                                             "gen_ai.output.messages",
                                             "gen_ai.system_instructions",
                                             "gen_ai.tool.call.arguments",
                                             "gen_ai.tool.call.result",
                                             "llm.prompts",
                                             "llm.completions",
                                             "llm.input_messages",
                                             "llm.output_messages",
                                             "input.value",
                                             "output.value",
                                             "traceloop.entity.input",
                                             "traceloop.entity.output",
                                             "http.request.header",
                                             "http.response.header"};
// Parts of a name that say the same of all below them.
constexpr std::string_view kParts[] = {
    "prompt",       "prompts",      "completion",     "completions", "messages",       "content",
    "contents",     "header",       "headers",        "body",        "conversation",   "transcript",
    "chat_history", "instructions", "generated_text", "documents",   "generated_texts"};
// Last parts of a name. "message" is none: it is what errors and logs say.
constexpr std::string_view kLast[] = {
    "input",    "inputs",  "output",      "outputs",   "text",      "texts",     "query",
    "answer",   "answers", "question",    "questions", "response",  "responses", "arguments",
    "document", "queries", "instruction", "payload",   "reasoning", "history",   "parameters"};
// Ends of the last part: "formatted_prompt", "user_input".
constexpr std::string_view kEnds[] = {
    "prompt",         "prompts",         "completion",   "completions",   "messages",
    "content",        "contents",        "body",         "transcript",    "headers",
    "input",          "output",          "instructions", "answer",        "question",
    "response",       "input_text",      "output_text",  "response_text", "prompt_text",
    "generated_text", "completion_text", "user_text",    "token_ids",     "input_ids",
    "output_ids",     "query",           "queries",      "questions",     "user_message",
    "system_message", "chat_message",    "parameters",   "human_message", "assistant_message"};
// A name of one part that says it; behind other parts it is the name of a system ("db.system").
constexpr std::string_view kAlone = "system";

bool is_convention(std::string_view key) {
  return std::any_of(std::begin(kConventions), std::end(kConventions), [&](std::string_view name) {
    return key.starts_with(name) && (key.size() == name.size() || key[name.size()] == '.');
  });
}

template <std::size_t N>
bool is_one_of(const std::string& part, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), part) != std::end(words);
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// "llm.inputMessages.0.Chat-Text": "llm", "input_messages", "chat_text".
std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> parts(1);
  char before = '_';
  for (const char c : key) {
    std::string& part = parts.back();
    if (c == '.' || c == '/' || c == ':' || c == ' ') {
      if (!part.empty()) parts.emplace_back();
      before = '_';
      continue;
    }
    if (is_upper(c) && !is_upper(before) && before != '_' && before != '-') part += '_';
    part += c == '-' ? '_' : is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    before = c;
  }
  std::erase_if(parts, [](const std::string& part) {
    return part.find_first_not_of("0123456789") == std::string::npos;
  });
  return parts;
}

bool ends_with_word(std::string_view part, std::string_view word) {
  return part.ends_with(word) &&
         (part.size() == word.size() || part[part.size() - word.size() - 1] == '_');
}

// A text, or a list or an object that holds something: numbers and flags are no content.
bool may_be_content(const Json& value) {
  return value.is_string() || (value.is_structured() && !value.empty());
}

}  // namespace

bool is_content_key(std::string_view key) {
  if (is_convention(key)) return true;
  const std::vector<std::string> parts = parts_of(key);
  if (parts.empty()) return false;
  const auto is_part = [](const std::string& part) { return is_one_of(part, kParts); };
  if (std::any_of(parts.begin(), parts.end(), is_part)) return true;
  const std::string& last = parts.back();
  return is_one_of(last, kLast) || (parts.size() == 1 && last == kAlone) ||
         std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view word) { return ends_with_word(last, word); });
}

// Without patterns of a user making the rules can't fail.
OtlpContent::OtlpContent() : redactor_(std::move(Redactor::create({}).value())) {}

std::string OtlpContent::text(std::string_view text) {
  return redactor_.text(text, secrets_);
}

void OtlpContent::leave_out(Json& value) {
  const std::size_t bytes = value.dump(-1, ' ', false, Json::error_handler_t::replace).size();
  value = "<left out: " + std::to_string(bytes) + " bytes>";
  ++left_out_;
}

// A command line: what stands behind "--api-key" is in the next text of the list.
bool OtlpContent::arguments(std::string_view key, Json& value) {
  const std::vector<std::string> parts = parts_of(key);
  const bool command = !parts.empty() && (ends_with_word(parts.back(), "command_args") ||
                                          ends_with_word(parts.back(), "argv"));
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (!command || !value.is_array() || !std::all_of(value.begin(), value.end(), is_text)) {
    return false;
  }
  value = redactor_.arguments(value.get<std::vector<std::string>>(), secrets_);
  return true;
}

// Keys are written by programs too: "user alice@example.com sk-…" is one. What two keys become that
// differed in nothing else stays apart.
void OtlpContent::clean_keys(Json& object) {
  std::vector<std::string> names;
  bool same = true;
  for (const auto& [key, value] : object.items()) {
    names.push_back(text(key));
    same = same && names.back() == key;
  }
  if (same) return;
  Json kept = Json::object();
  auto name = names.begin();
  for (auto& [key, value] : object.items()) {
    while (kept.contains(*name)) *name += '_';
    kept[*name++] = std::move(value);
  }
  object = std::move(kept);
}

void OtlpContent::member(std::string_view key, Json& value) {
  if (is_convention(key) || (is_content_key(key) && may_be_content(value))) return leave_out(value);
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  const auto kind = may_be_content(value) ? kind_of_member(key, text) : std::nullopt;
  if (kind == SecretKind::kPrompt || kind == SecretKind::kTokenIds) return leave_out(value);
  if (kind) {
    std::string mark;
    append_mark(*kind, mark);
    value = mark;
    secrets_.add(*kind);
    return;
  }
  if (!arguments(key, value)) clean(value);
}

void OtlpContent::clean(Json& value) {
  if (value.is_string()) {
    const auto& held = value.get_ref<const std::string&>();
    std::string kept = text(held);
    if (kept != held) value = std::move(kept);
  } else if (value.is_array()) {
    for (Json& one : value) clean(one);
  } else if (value.is_object()) {
    const auto key = value.find("key");
    const auto held = value.find("value");
    const bool pair = key != value.end() && key->is_string() && held != value.end();
    if (pair) {
      if (Json plain = otlp_value(*held); !plain.is_null()) *held = std::move(plain);
      member(key->get<std::string>(), *held);
    }
    for (auto& [name, one] : value.items()) {
      if (!pair || (name != "key" && name != "value")) member(name, one);
    }
    if (pair) *key = text(key->get<std::string>());
    clean_keys(value);
  }
}

}  // namespace teller
