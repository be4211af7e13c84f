#include "base/json.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// Larger texts are none of ours; their tree would take many times as much memory.
constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;

// Builds a tree as the parser reads on. An ordered object is a list, and looking a key up in it for
// every new member would take time by the square of their number: large ones get an index.
class TreeBuilder {
 public:
  explicit TreeBuilder(Json& root) : root_(root) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool end_array() { return close(); }
  bool end_object() { return close(); }
  bool key(std::string& key) {
    open_.back().key = std::move(key);
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    return false;
  }

 private:
  struct Open {
    Json* value = nullptr;
    std::string key;                                     // of the member that is read next
    std::unordered_map<std::string, std::size_t> index;  // of a large object's members
  };
  static constexpr std::size_t kLarge = 32;

  // Where the next value goes. Nothing is added around a value while it is read, so that it stays.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& around = *open_.back().value;
    if (around.is_array()) {
      around.push_back(std::move(value));
      return around.back();
    }
    Json& member = member_of(open_.back());
    return member = std::move(value);
  }

  // Of two members with one key the later value counts, in the place of the first.
  static Json& member_of(Open& open) {
    auto& members = open.value->get_ref<Json::object_t&>();
    if (members.size() < kLarge) return members[open.key];
    if (open.index.empty()) {
      for (std::size_t i = 0; i < members.size(); ++i)
        open.index.emplace(members.begin()[static_cast<std::ptrdiff_t>(i)].first, i);
    }
    const auto [found, is_new] = open.index.emplace(open.key, members.size());
    if (is_new) members.emplace_back(open.key, Json());
    return members.begin()[static_cast<std::ptrdiff_t>(found->second)].second;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    Json& placed = place(std::move(value));
    open_.push_back({&placed, {}, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Open> open_;
};

}  // namespace

bool json_depth_within(std::string_view text, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > max_depth) return false;
  }
  return true;
}

nlohmann::ordered_json parse_json(std::string_view text) {
  const Json nothing(Json::value_t::discarded);
  if (text.size() > kMaxJsonBytes || !json_depth_within(text, kMaxJsonDepth)) return nothing;
  Json root;
  TreeBuilder builder(root);
  return Json::sax_parse(text, &builder) ? root : nothing;
}

bool is_json_object(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         json_depth_within(text, kMaxJsonDepth) && nlohmann::ordered_json::accept(text);
}

}  // namespace teller
