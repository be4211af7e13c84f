#include "importers/chakra_node.h"

#include <nlohmann/json.hpp>

#include "importers/decimal_time.h"
#include "importers/json_text.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

Json parse_node(std::string_view text, bool& repaired) {
  if (!fits_json_tree(text)) return Json(Json::value_t::discarded);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  repaired = true;
  return Json::parse(repair_json(text), nullptr, false);
}

std::optional<std::uint64_t> whole(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  return value.is_number_unsigned() ? value.get<std::uint64_t>()
                                    : static_cast<std::uint64_t>(value.get<std::int64_t>());
}

// Microseconds as a number; its shortest text is what the file said.
std::optional<std::int64_t> time_of(const Json& value) {
  return value.is_number() ? decimal_us_to_ns(value.dump()) : std::nullopt;
}

bool says_nothing(const Json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

class NodeReader {
 public:
  explicit NodeReader(ChakraNode& node) : node_(node) {}

  void member(const std::string& key, const Json& value) {
    if (key == "attrs" && value.is_array()) {
      // Adding a member takes a walk over those that are there.
      constexpr std::size_t kMost = 1024;
      for (std::size_t i = 0; i < value.size() && i < kMost; ++i) attribute(value[i]);
      std::string name = "left_out";
      while (attrs_.contains(name)) name += '_';
      if (value.size() > kMost) attrs_[name] = value.size() - kMost;
      return;
    }
    if (!take(key, value) && !says_nothing(value)) attrs_[key] = value;
  }

  bool complete() const { return has_id_ && has_name_; }
  void finish() const {
    if (!attrs_.empty()) node_.attrs = meta_text(attrs_);
  }

 private:
  // {"name": …, "type": …, "value": …}
  void attribute(const Json& json) {
    if (!json.is_object()) return;
    const auto name = json.find("name");
    const auto value = json.find("value");
    if (name == json.end() || !name->is_string() || value == json.end()) return;
    const auto& key = name->get_ref<const std::string&>();
    if (!take(key, *value) && !says_nothing(*value)) attrs_[key] = *value;
  }

  // Whether the member has a field of its own that takes it.
  bool take(const std::string& key, const Json& value) {
    if (key == "name" && value.is_string()) {
      node_.name = value.get<std::string>();
      return has_name_ = true;
    }
    if (key == "ts") node_.begin_ns = time_of(value);
    if (key == "dur" || key == "inclusive_dur") node_.duration_ns = time_of(value);
    const auto number = whole(value);
    if (!number) return false;
    if (key == "id") {
      node_.id = *number;
      return has_id_ = true;
    }
    // Where "parent" stands beside "ctrl_deps" both say the same.
    if (key == "parent" || key == "ctrl_deps") {
      node_.parent = *number;
    } else if (key == "rf_id") {
      node_.rf_id = *number;
    } else if (key == "tid") {
      node_.tid = static_cast<std::int64_t>(*number);
    } else if (key == "scope") {
      node_.scope = static_cast<std::int64_t>(*number);
    } else {
      return false;
    }
    return true;
  }

  ChakraNode& node_;
  Json attrs_ = Json::object();
  bool has_id_ = false;
  bool has_name_ = false;
};

}  // namespace

bool ChakraNode::is_structure() const {
  return name == "[pytorch|profiler|execution_trace|process]" ||
         name == "[pytorch|profiler|execution_trace|thread]" ||
         name == "[pytorch|profiler|execution_graph|process]" ||
         name == "[pytorch|profiler|execution_graph|thread]";
}

std::optional<ChakraNode> read_chakra_node(std::string_view text) {
  ChakraNode node;
  const Json json = parse_node(text, node.repaired);
  if (!json.is_object()) return std::nullopt;
  NodeReader reader(node);
  for (const auto& [key, value] : json.items()) reader.member(key, value);
  if (!reader.complete()) return std::nullopt;
  reader.finish();
  return node;
}

}  // namespace teller
