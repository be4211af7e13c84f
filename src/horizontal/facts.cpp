#include "horizontal/facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/json.h"

namespace teller::horizontal_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestRanks = 1u << 20;
constexpr int kMostRank = 1'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

// A part of a name, and the operation that it shows; the first that fits.
constexpr std::pair<std::string_view, std::string_view> kOperations[] = {
    {"reducescatter", "reduce_scatter"},
    {"allgather", "all_gather"},
    {"allreduce", "all_reduce"},
    {"crossdevicereduce", "all_reduce"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"barrier", "barrier"},
    {"sendrecv", "send_recv"},
    {"scatter", "scatter"},
    {"gather", "gather"},
    {"recv", "recv"},
    {"send", "send"},
    {"reduce", "reduce"}};

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  return value->is_number() || value->is_array() ? value->dump() : "";
}

// A number that is not negative, also as text; -1 for anything else.
std::int64_t count_of(const Json& object, const char* key) {
  const std::string text = text_of(object, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return good && !text.empty() ? value : -1;
}

// Bytes of one element; 0 unknown. C++ and PyTorch spell types differently.
std::int64_t bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"float8", 1}, {"bfloat16", 2}, {"half", 2},           {"float16", 2}, {"short", 2},
      {"uint16", 2}, {"int16", 2},    {"float64", 8},        {"double", 8},  {"long", 8},
      {"int64", 8},  {"uint64", 8},   {"unsignedc", 1},      {"uint8", 1},   {"int8", 1},
      {"byte", 1},   {"char", 1},     {"bool", 1},           {"float", 4},   {"int", 4},
      {"uint32", 4}, {"signedc", 1},  {"complexdouble", 16}, {"complex", 8}};
  std::string name = plain(type);
  if (name.starts_with("c10")) name.erase(0, 3);
  for (const auto& [prefix, bytes] : kTypes) {
    if (name.starts_with(prefix)) return bytes;
  }
  return 0;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) || result > kMostBytes ? -1
                                                                                        : result;
}

// Elements of a tensor ([2, 3]) or a list of tensors ([[2, 3], [4]]); -1 for anything else.
std::int64_t elements_of(const Json& dims) {
  if (!dims.is_array() || dims.empty()) return -1;
  std::int64_t product_so_far = 1, sum = 0;
  for (const Json& one : dims) {
    if (one.is_array()) {
      std::int64_t inner = 1;
      for (const Json& size : one) {
        inner = size.is_number_integer() ? product(inner, size.get<std::int64_t>()) : -1;
        if (inner < 0) return -1;
      }
      sum = std::min(sum + inner, kMostBytes);
    } else {
      if (!one.is_number_integer()) return -1;
      product_so_far = product(product_so_far, one.get<std::int64_t>());
      if (product_so_far < 0) return -1;
    }
  }
  return dims[0].is_array() ? sum : product_so_far;
}

// Where no size is stated: that of the largest tensor among the inputs.
std::int64_t bytes_of_inputs(const Json& object) {
  const Json* dims = find(object, "Input Dims");
  const Json* types = find(object, "Input type");
  if (dims == nullptr || types == nullptr || !dims->is_array() || !types->is_array()) return -1;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < std::min(dims->size(), types->size()); ++i) {
    if (!(*types)[i].is_string()) continue;
    const std::int64_t element = bytes_of_type((*types)[i].get<std::string>());
    if (element > 0) most = std::max(most, product(elements_of((*dims)[i]), element));
  }
  return most;
}

std::int64_t bytes_of(const Json& object) {
  const std::int64_t most =
      std::max(count_of(object, "In msg nelems"), count_of(object, "Out msg nelems"));
  const std::int64_t element = bytes_of_type(text_of(object, "dtype"));
  return most < 0 || element == 0 ? -1 : product(most, element);
}

// "[0, 1, 2]"; nothing where the profiler left some out ("[0, 1, ..., 7]") or it is no such list.
std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  if (text.size() > kLongestRanks || text.find("..") != std::string_view::npos) return ranks;
  std::size_t at = 0;
  while ((at = text.find_first_of("0123456789", at)) != std::string_view::npos) {
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error != std::errc{} || rank > kMostRank) return {};
    ranks.push_back(rank);
    at = static_cast<std::size_t>(end - text.data());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

int peer_of(const Json& object, const char* key) {
  const std::int64_t rank = count_of(object, key);
  return rank >= 0 && rank <= kMostRank ? static_cast<int>(rank) : -1;
}

}  // namespace

void CollectiveFacts::fill_from(const CollectiveFacts& other) {
  if (operation.empty()) operation = other.operation;
  if (group.empty()) group = other.group;
  if (ranks_text.empty()) {
    ranks_text = other.ranks_text;
    ranks = other.ranks;
  }
  if (sequence < 0) sequence = other.sequence;
  if (bytes < 0) {
    bytes = other.bytes;
    both_sizes = other.both_sizes;
  }
  if (from < 0) from = other.from;
  if (to < 0) to = other.to;
}

std::string operation_of(std::string_view name) {
  const std::string text = plain(name.substr(0, 4096));
  for (const auto& [part, operation] : kOperations) {
    if (text.find(part) != std::string::npos) return std::string(operation);
  }
  return std::string(name.substr(0, kLongestName));
}

bool is_transfer(std::string_view operation) {
  return std::any_of(std::begin(kOperations), std::end(kOperations),
                     [operation](const auto& known) { return known.second == operation; });
}

bool is_synchronising(std::string_view operation) {
  return operation == "all_reduce" || operation == "all_gather" || operation == "reduce_scatter" ||
         operation == "all_to_all" || operation == "barrier";
}

bool is_point_to_point(std::string_view operation) {
  return operation == "send" || operation == "recv";
}

bool has_many_sizes(std::string_view operation) {
  return operation == "all_to_all" || operation == "gather" || operation == "scatter";
}

bool has_one_size(std::string_view operation) {
  return operation == "all_reduce" || operation == "broadcast" || operation == "reduce_scatter" ||
         operation == "all_gather" || operation == "reduce";
}

double bus_factor(std::string_view operation, std::size_t ranks) {
  if (ranks < 2) return 0;
  const auto n = static_cast<double>(ranks);
  if (operation == "all_reduce") return 2 * (n - 1) / n;
  if (operation == "all_gather" || operation == "reduce_scatter" || operation == "all_to_all") {
    return (n - 1) / n;
  }
  return operation == "barrier" ? 0 : 1;
}

CollectiveFacts read_facts(std::string_view name, std::string_view attrs) {
  CollectiveFacts facts;
  // It wraps any operation, and names it in a field.
  if (name != "record_param_comms") facts.operation = operation_of(name);
  if (attrs.empty()) return facts;
  const Json object = parse_json(attrs);
  if (!object.is_object()) return facts;
  const std::string stated = text_of(object, "Collective name");
  if (!stated.empty()) facts.operation = operation_of(stated);
  facts.group = text_of(object, "Process Group Name");
  facts.ranks_text = text_of(object, "Process Group Ranks");
  facts.ranks = ranks_in(facts.ranks_text);
  facts.sequence = count_of(object, "Seq");
  facts.bytes = bytes_of(object);
  facts.both_sizes = facts.bytes >= 0 && count_of(object, "In msg nelems") >= 0 &&
                     count_of(object, "Out msg nelems") >= 0;
  if (facts.bytes < 0 && name != "record_param_comms") facts.bytes = bytes_of_inputs(object);
  facts.from = peer_of(object, "Src Rank");
  facts.to = peer_of(object, "Dst Rank");
  return facts;
}

}  // namespace teller::horizontal_detail
