#include "importers/kineto_id.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json.h"
#include "importers/json_text.h"
#include "importers/kineto_text.h"

namespace teller {

using Json = nlohmann::ordered_json;
using State = KinetoId::State;

namespace {

// Far longer than any id; what it holds is made a tree.
constexpr std::size_t kMostIdText = 4096;

// The value of a member that is not one of an event's own fields; "" if it is not there.
std::string_view extra_value(const KinetoEvent& event, std::string_view name) {
  for (const JsonField& field : event.extra) {
    if (field.key == name) return trim_blank(field.value);
    if (field.key.find('\\') == std::string_view::npos) continue;
    std::string key;
    if (append_unescaped(field.key, key) && key == name) return trim_blank(field.value);
  }
  return {};
}

bool is_container(std::string_view raw) {
  return raw.starts_with('{') || raw.starts_with('[');
}

// One number for several texts, of which none can be taken for another's end.
std::uint64_t joined_id(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) (text += part) += '\0';
  return hash_id(text);
}

// The text of an id that is a string or a number; "" if it is neither.
std::string id_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? value.dump() : std::string();
}

KinetoId read_id2(std::string_view raw, const KinetoEvent& event, std::string_view scope) {
  if (raw.empty() || raw == "null") return {};
  const KinetoId unreadable{State::kUnreadable, 0};
  if (raw.size() > kMostIdText) return unreadable;
  const Json json = parse_json(raw);
  if (!json.is_object()) return unreadable;
  const bool local = json.contains("local");
  if (local == json.contains("global")) return unreadable;
  const std::string text = id_text(json[local ? "local" : "global"]);
  if (text.empty()) return unreadable;
  if (local) return {State::kGood, joined_id({"local", event.pid, scope, text})};
  return {State::kGood, scope.empty() ? parse_id(text) : joined_id({scope, text})};
}

}  // namespace

KinetoId kineto_id(const KinetoEvent& event) {
  if (event.id.empty() && event.extra.empty()) return {};
  const std::string_view scope = extra_value(event, "scope");
  if (event.id.empty()) return read_id2(extra_value(event, "id2"), event, scope);
  if (is_container(event.id)) return {State::kUnreadable, 0};
  return {State::kGood, scope.empty() ? parse_id(event.id) : joined_id({scope, event.id})};
}

}  // namespace teller
