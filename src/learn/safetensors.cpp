#include "learn/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/json.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

constexpr std::uint64_t kFileLimit = std::uint64_t{1} << 30;
constexpr std::uint64_t kHeaderLimit = std::uint64_t{16} << 20;
constexpr std::size_t kMostDimensions = 8;

Error bad_weights(const std::string& path, const std::string& why) {
  return {ErrorCode::kCorrupt, "reading weights " + path + ": " + why,
          "train the model again, or copy its folder again"};
}

// Number of values of `shape`; -1 if it is no sane shape.
std::int64_t value_count(const Json& shape) {
  if (!shape.is_array() || shape.size() > kMostDimensions) return -1;
  std::int64_t count = 1;
  for (const Json& size : shape) {
    if (!size.is_number_unsigned()) return -1;
    const auto value = size.get<std::uint64_t>();
    if (value > kFileLimit || (value > 0 && count > static_cast<std::int64_t>(kFileLimit / value)))
      return -1;
    count *= static_cast<std::int64_t>(value);
  }
  return count;
}

struct Piece {
  std::uint64_t begin = 0, end = 0;
};

// "" or what is wrong with one entry of the header. Copies nothing.
std::string read_entry(const Json& entry, std::string_view data, PlainTensor& tensor,
                       Piece& piece) {
  if (!entry.is_object() || entry.value("dtype", Json()) != "F32") return "it is not float32";
  const Json shape = entry.value("shape", Json());
  const Json offsets = entry.value("data_offsets", Json());
  const std::int64_t count = value_count(shape);
  if (count < 0) return "its shape makes no sense";
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return "its data_offsets make no sense";
  }
  piece = {offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  if (piece.begin > piece.end || piece.end > data.size() ||
      piece.end - piece.begin != static_cast<std::uint64_t>(count) * sizeof(float)) {
    return "its data lie outside the file, or do not fit its shape";
  }
  for (const Json& size : shape) tensor.shape.push_back(size.get<std::int64_t>());
  return "";
}

// Whether all values are finite.
bool read_values(std::string_view data, const Piece& piece, PlainTensor& tensor) {
  const std::size_t bytes = piece.end - piece.begin;
  tensor.values.resize(bytes / sizeof(float));
  if (bytes > 0) std::memcpy(tensor.values.data(), data.data() + piece.begin, bytes);
  return std::all_of(tensor.values.begin(), tensor.values.end(),
                     [](float x) { return std::isfinite(x); });
}

bool cover(std::vector<Piece> pieces, std::uint64_t size) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t next = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin != next) return false;
    next = piece.end;
  }
  return next == size;
}

Result<TensorMap> parse_safetensors(const std::string& path, std::string_view file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof(length)) return bad_weights(path, "it is too short");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kHeaderLimit || length > file.size() - sizeof(length)) {
    return bad_weights(path, "its header is longer than the file");
  }
  const Json header = parse_json(file.substr(sizeof(length), length));
  if (!header.is_object()) return bad_weights(path, "its header is no JSON object");
  const std::string_view data = file.substr(sizeof(length) + length);
  TensorMap tensors;
  std::vector<Piece> pieces;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    Piece piece;
    const std::string wrong = read_entry(entry, data, tensors[name], piece);
    if (!wrong.empty()) return bad_weights(path, "tensor " + name + ": " + wrong);
    pieces.push_back(piece);
  }
  // Before anything is copied: many tensors that share their bytes would need far more memory.
  if (!cover(pieces, data.size())) {
    return bad_weights(path, "its tensors do not cover its data: it is truncated or damaged");
  }
  auto piece = pieces.begin();
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (!read_values(data, *piece++, tensors[name])) {
      return bad_weights(path, "tensor " + name + ": it holds values that are not finite");
    }
  }
  return tensors;
}

}  // namespace

Status write_safetensors(const std::string& path, const TensorMap& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()),
                tensor.values.size() * sizeof(float));
    header[name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string file;
  file.reserve(sizeof(length) + text.size() + data.size());
  for (std::size_t byte = 0; byte < sizeof(length); ++byte) {
    file += static_cast<char>(length >> (8 * byte));
  }
  file += text;
  file += data;
  return write_file_atomic(path, file);
}

Result<TensorMap> read_safetensors(const std::string& path) {
  const Result<std::string> file = read_file(path, "weights", kFileLimit);
  if (!file) return file.error();
  return parse_safetensors(path, file.value());
}

}  // namespace teller::learn_detail
