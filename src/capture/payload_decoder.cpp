#include "capture/payload_decoder.h"

#include <algorithm>

#include "capture/payload_values.h"
#include "capture/record_bytes.h"

namespace teller::capture {

namespace {

constexpr std::uint64_t kMaxElements = 1024;  // of one array that are shown

// `bytes` from `offset` on; nothing if that lies outside.
std::string_view from(std::string_view bytes, std::uint64_t offset) {
  return offset > bytes.size() ? std::string_view() : bytes.substr(offset);
}

// A key that the object does not have yet: names may be missing, or twice there.
std::string free_key(const nlohmann::ordered_json& object, const std::string& name,
                     std::size_t index) {
  if (!name.empty() && !object.contains(name)) return name;
  return (name.empty() ? "entry" : name) + " " + std::to_string(index);
}

}  // namespace

bool take_payloads(std::string_view& payload, std::vector<Payload>* payloads) {
  std::uint32_t head[2] = {};  // how many, and the bytes of all
  std::string_view all;
  if (!take(payload, &head) || !take_text(payload, head[1], &all)) return false;
  if (head[0] > ring::kMaxPayloads || head[1] % 8 != 0) return false;
  payload.remove_prefix(all.size());
  for (std::uint32_t i = 0; i < head[0]; ++i) {
    ring::PayloadRecord record{};
    std::string_view bytes;
    if (!take(all, &record) || !take_text(all, record.bytes, &bytes)) return false;
    all = from(all, ring::round_up_8(record.bytes));
    payloads->push_back({record.schema, record.address, record.size, bytes});
  }
  return true;
}

struct PayloadDecoder::Field {
  const PayloadSchema& schema;
  const PayloadEntry& entry;
  std::string_view base;                      // of the structure
  const std::vector<std::uint64_t>& offsets;  // of the entries before this one
  std::uint64_t offset;
  int depth;
};

DecodedPayload PayloadDecoder::decode(std::uint32_t domain, const std::vector<Payload>& payloads) {
  payloads_ = &payloads;
  message_.clear();
  layouts_.begin(domain);
  DecodedPayload decoded;
  Json values = Json::array();
  for (const Payload& payload : payloads) {
    if (payload.schema == nvtx::kReferenced) continue;
    const PayloadSchema* schema = layouts_.find(payload.schema);
    if (schema != nullptr && decoded.schema.empty()) decoded.schema = schema->name;
    values.push_back(decode_one(payload));
  }
  decoded.value = values.size() == 1 ? Json(values.front()) : values;
  decoded.message = std::move(message_);
  decoded.cut = layouts_.used_up();
  return decoded;
}

PayloadDecoder::Json PayloadDecoder::decode_one(const Payload& payload) {
  if (payload.schema == nvtx::kRaw) return {{"bytes", payload.size}};
  if (const std::size_t character = character_size(payload.schema)) {
    return text_value(payload.bytes, character);
  }
  const PayloadLayout layout = layouts_.of(payload.schema, 0, 0);
  if (layout.schema == nullptr && layout.size == 0) {
    return {{"unknown_schema", payload.schema}, {"bytes", payload.size}};
  }
  if (layout.schema != nullptr && !layout.schema->is_enum) {
    return read_struct(*layout.schema, payload.bytes, 0);
  }
  static const PayloadSchema kNone;
  const PayloadEntry entry{0, payload.schema, 0, 0, ""};
  const std::vector<std::uint64_t> offsets;
  return read_element({kNone, entry, payload.bytes, offsets, 0, 0}, layout, payload.bytes);
}

PayloadDecoder::Json PayloadDecoder::read_struct(const PayloadSchema& schema,
                                                 std::string_view bytes, int depth) {
  Json object = Json::object();
  if (depth >= kMaxPayloadDepth) return nullptr;
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const PayloadEntry& entry : schema.entries) {
    if (!layouts_.spend()) break;
    PayloadLayout layout = layouts_.of(entry.type, schema.pack, depth + 1);
    if (is_indirect(entry)) layout.alignment = kPayloadPointerBytes;
    const bool placed = entry.offset != 0;
    const std::uint64_t begin = placed ? entry.offset : round_up_to(end, layout.alignment);
    offsets.push_back(begin);
    const Field field{schema, entry, bytes, offsets, begin, depth};
    const std::string_view rest = from(bytes, begin);
    end = begin > bytes.size() ? begin : begin + bytes_of(field, layout, rest);
    object[free_key(object, entry.name, offsets.size() - 1)] = read_field(field);
  }
  return object;
}

// Elements of the entry: 1 unless it is an array.
std::uint64_t PayloadDecoder::count_of(const Field& field, const PayloadLayout& layout,
                                       std::string_view bytes) const {
  const PayloadEntry& entry = field.entry;
  switch (array_of(entry)) {
    case nvtx::Array::kFixed:
      return entry.detail;
    case nvtx::Array::kZeroTerminated: {
      std::uint64_t count = 0;
      while (layout.size != 0 && bytes.size() >= layout.size &&
             bytes.find_first_not_of('\0') < layout.size) {
        bytes.remove_prefix(layout.size);
        ++count;
      }
      return count;
    }
    case nvtx::Array::kLengthIndex: {
      if (entry.detail >= field.offsets.size() || entry.detail >= field.schema.entries.size()) {
        return 0;
      }
      const std::uint64_t type = field.schema.entries[entry.detail].type;
      const auto count =
          whole_number(from(field.base, field.offsets[entry.detail]), size_of_type(type));
      return count.value_or(0);
    }
    case nvtx::Array::kLengthPayload: {
      if (entry.detail >= payloads_->size()) return 0;
      const Payload& lengths = (*payloads_)[entry.detail];
      return whole_number(lengths.bytes, std::min<std::size_t>(lengths.bytes.size(), 8))
          .value_or(0);
    }
    case nvtx::Array::kNone:
      break;
  }
  return character_size(entry.type) != 0 ? entry.detail : 1;
}

// Bytes that the entry takes within its structure, at most those that are there.
std::uint64_t PayloadDecoder::bytes_of(const Field& field, const PayloadLayout& layout,
                                       std::string_view bytes) const {
  if (is_indirect(field.entry)) return kPayloadPointerBytes;
  const std::size_t character = character_size(field.entry.type);
  PayloadLayout element = layout;
  if (character != 0) element.size = character;
  if (element.size == 0) return 0;
  const bool loose =
      character != 0 && array_of(field.entry) == nvtx::Array::kNone && field.entry.detail == 0;
  if (loose) return kPayloadPointerBytes;
  const std::uint64_t count = count_of(field, element, bytes);
  const bool ended = array_of(field.entry) == nvtx::Array::kZeroTerminated;
  if (count >= bytes.size() / element.size) return bytes.size();
  return (count + (ended ? 1 : 0)) * element.size;
}

PayloadDecoder::Json PayloadDecoder::read_field(const Field& field) {
  const PayloadEntry& entry = field.entry;
  std::string_view bytes = from(field.base, field.offset);
  const std::size_t character = character_size(entry.type);
  // A string of no stated length that is not embedded: its address.
  const bool loose = character != 0 && array_of(entry) == nvtx::Array::kNone && entry.detail == 0;
  if (is_indirect(entry) || loose) {
    const auto value = whole_number(bytes, kPayloadPointerBytes);
    if (!value) return nullptr;
    bytes = behind_pointer(field, *value);
    if (bytes.empty()) return *value == 0 ? Json(nullptr) : Json(hex_number(*value));
  }
  if (character != 0) return read_text(field, bytes, character);
  const PayloadLayout layout = layouts_.of(entry.type, field.schema.pack, field.depth + 1);
  if (layout.schema != nullptr && layout.schema->type == nvtx::kUnion) {
    return read_union(field, *layout.schema, bytes);
  }
  if (array_of(entry) != nvtx::Array::kNone) return read_array(field, layout, bytes);
  return read_element(field, layout, bytes);
}

PayloadDecoder::Json PayloadDecoder::read_text(const Field& field, std::string_view bytes,
                                               std::size_t character) {
  const nvtx::Array array = array_of(field.entry);
  const bool open = array == nvtx::Array::kZeroTerminated ||
                    (array == nvtx::Array::kNone && field.entry.detail == 0);
  std::uint64_t count = bytes.size() / character;
  if (!open) count = std::min(count, count_of(field, {nullptr, character, 1}, bytes));
  std::string text = text_value(bytes.substr(0, count * character), character);
  if ((field.entry.flags & nvtx::kEventMessage) != 0) message_ = text;
  return text;
}

PayloadDecoder::Json PayloadDecoder::read_array(const Field& field, const PayloadLayout& layout,
                                                std::string_view bytes) {
  Json list = Json::array();
  if (layout.size == 0) return nullptr;
  const std::uint64_t stated = count_of(field, layout, bytes);
  const std::uint64_t there = std::min<std::uint64_t>(stated, bytes.size() / layout.size);
  constexpr std::uint64_t kChar = 1, kChar8 = 25;
  if (field.entry.type == kChar || field.entry.type == kChar8) {
    return text_value(bytes.substr(0, there), 1);
  }
  for (std::uint64_t i = 0; i < std::min(there, kMaxElements) && layouts_.spend(); ++i) {
    list.push_back(read_element(field, layout, bytes.substr(i * layout.size)));
  }
  if (list.size() < stated) list.push_back("… of " + std::to_string(stated));
  return list;
}

PayloadDecoder::Json PayloadDecoder::read_element(const Field& field, const PayloadLayout& layout,
                                                  std::string_view bytes) {
  if (layout.schema != nullptr && layout.schema->is_enum) return read_enum(*layout.schema, bytes);
  if (layout.schema != nullptr) {
    const std::uint64_t size = layout.size != 0 ? layout.size : bytes.size();
    return read_struct(*layout.schema, bytes.substr(0, size), field.depth + 1);
  }
  if (layout.size == 0 || bytes.size() < layout.size) return nullptr;
  constexpr std::uint64_t kRegisteredString = 80;
  if (field.entry.type != kRegisteredString) return scalar_value(field.entry.type, bytes);
  std::string text = text_of_handle_(whole_number(bytes, 8).value_or(0));
  if ((field.entry.flags & nvtx::kEventMessage) != 0) message_ = text;
  return text;
}

// The name of the value; of bits, all that are set; the number where there is none.
PayloadDecoder::Json PayloadDecoder::read_enum(const PayloadSchema& schema,
                                               std::string_view bytes) const {
  const auto number = whole_number(bytes, schema.bytes);
  if (!number) return nullptr;
  std::string names;
  for (const PayloadEntry& entry : schema.entries) {
    if (entry.type == *number) return entry.name;
    const bool bit = (entry.flags & 1) != 0 && entry.type != 0;
    if (bit && (entry.type & *number) == entry.type)
      names += (names.empty() ? "" : "|") + entry.name;
  }
  return names.empty() ? Json(*number) : Json(names);
}

// One member, selected by a whole number of the structure around.
PayloadDecoder::Json PayloadDecoder::read_union(const Field& field, const PayloadSchema& schema,
                                                std::string_view bytes) {
  const std::uint64_t selector = field.entry.detail;
  if (selector >= field.offsets.size() || selector >= field.schema.entries.size()) {
    return nullptr;
  }
  const std::size_t size = size_of_type(field.schema.entries[selector].type);
  const auto selected = whole_number(from(field.base, field.offsets[selector]), size);
  if (!selected || *selected >= schema.entries.size() || field.depth + 1 >= kMaxPayloadDepth) {
    return nullptr;
  }
  const PayloadEntry& member = schema.entries[*selected];
  const std::vector<std::uint64_t> offsets;
  const Field inner{schema, member, bytes, offsets, member.offset, field.depth + 1};
  return {{free_key(Json::object(), member.name, *selected),
           layouts_.spend() ? read_field(inner) : nullptr}};
}

std::string_view PayloadDecoder::behind_pointer(const Field& field, std::uint64_t value) const {
  if ((field.entry.flags & nvtx::kFromBase) != 0) return from(field.base, value);
  if ((field.entry.flags & nvtx::kFromHere) != 0) {
    return from(from(field.base, field.offset + kPayloadPointerBytes), value);
  }
  return at_address(value);
}

// What was kept of the event's payloads from that address on.
std::string_view PayloadDecoder::at_address(std::uint64_t address) const {
  for (const Payload& payload : *payloads_) {
    if (address >= payload.address && address - payload.address < payload.bytes.size()) {
      return payload.bytes.substr(address - payload.address);
    }
  }
  return {};
}

}  // namespace teller::capture
