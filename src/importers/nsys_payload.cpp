#include "importers/nsys_payload.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "importers/nsys_rows.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Before the payload: domain, schema, bytes of the payload and of all, eight bytes each.
constexpr std::size_t kHeadBytes = 32;
constexpr std::size_t kMostEntries = 256;

// Kinds of predefined types (nvToolsExtPayload.h).
enum class Form { kNone, kSigned, kUnsigned, kFloat };
struct Type {
  Form form = Form::kNone;
  std::size_t size = 0;
};

// On the machines that CUDA runs on, long and size_t have eight bytes.
Type type_of(std::int64_t number) {
  constexpr Type kTypes[] = {{},
                             {Form::kSigned, 1},    // char
                             {Form::kUnsigned, 1},  // unsigned char
                             {Form::kSigned, 2},    // short
                             {Form::kUnsigned, 2},
                             {Form::kSigned, 4},  // int
                             {Form::kUnsigned, 4},
                             {Form::kSigned, 8},  // long
                             {Form::kUnsigned, 8},
                             {Form::kSigned, 8},  // long long
                             {Form::kUnsigned, 8},
                             {Form::kSigned, 1},  // int8_t
                             {Form::kUnsigned, 1},
                             {Form::kSigned, 2},  // int16_t
                             {Form::kUnsigned, 2},
                             {Form::kSigned, 4},  // int32_t
                             {Form::kUnsigned, 4},
                             {Form::kSigned, 8},  // int64_t
                             {Form::kUnsigned, 8},
                             {Form::kFloat, 4},      // float
                             {Form::kFloat, 8},      // double
                             {},                     // long double
                             {Form::kUnsigned, 8},   // size_t
                             {Form::kUnsigned, 8}};  // address
  const bool known = number > 0 && number < static_cast<std::int64_t>(std::size(kTypes));
  return known ? kTypes[number] : Type{};
}

std::uint64_t unsigned_at(std::string_view bytes, std::size_t size) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), size);
  return number;
}

std::int64_t signed_at(std::string_view bytes, std::size_t size) {
  const unsigned shift = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(unsigned_at(bytes, size) << shift) >> shift;
}

Json scalar_at(Type type, std::string_view bytes) {
  if (type.form == Form::kSigned) return signed_at(bytes, type.size);
  if (type.form == Form::kUnsigned) return unsigned_at(bytes, type.size);
  double number = 0;
  if (type.size == 8) {
    std::memcpy(&number, bytes.data(), 8);
  } else {
    float narrow = 0;
    std::memcpy(&narrow, bytes.data(), 4);
    number = static_cast<double>(narrow);
  }
  return std::isfinite(number) ? Json(number) : Json(std::isnan(number) ? "nan" : "inf");
}

struct NcclKey {
  std::string_view field;  // as NCCL's schemas name it
  const char* key;
  bool hash;  // shown in hexadecimal: as a number it would lose digits in many readers
};
constexpr NcclKey kNcclKeys[] = {{"Message size [bytes]", "bytes", false},
                                 {"Rank", "rank", false},
                                 {"No. of ranks", "nranks", false},
                                 {"CUDA device", "device", false},
                                 {"No. of devices", "ndevices", false},
                                 {"Root", "root", false},
                                 {"Peer rank", "peer", false},
                                 {"Reduction operation", "reduction", false},
                                 {"NCCL communicator ID", "communicator", true},
                                 {"Communicator ID", "communicator", true},
                                 {"Parent NCCL communicator ID", "parent_communicator", true}};

std::string hexadecimal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

void append_member(std::string& attrs, std::string_view key, const Json& value) {
  begin_member(attrs, key);
  attrs += meta_text(value);
}

// AllReduce of ncclAllReduce; calls that are no collective are operations.
void append_nccl(const Json& payload, std::string_view range, std::string& attrs) {
  constexpr std::string_view kCollectives[] = {"AllGather", "AllReduce",     "AlltoAll", "Bcast",
                                               "Broadcast", "Gather",        "Recv",     "Reduce",
                                               "Scatter",   "ReduceScatter", "Send"};
  std::string_view name = range;
  if (name.substr(0, 4) == "nccl") name.remove_prefix(4);
  bool collective = false;
  for (const std::string_view known : kCollectives) collective = collective || known == name;
  append_member(attrs, collective ? "collective" : "operation", std::string(name));
  for (const NcclKey& known : kNcclKeys) {
    const auto found = payload.find(known.field);
    if (found == payload.end()) continue;
    const bool hash = known.hash && found->is_number_integer();
    append_member(attrs, known.key, hash ? Json(hexadecimal(found->get<std::uint64_t>())) : *found);
  }
}

// The column of this name; -1 if there is none.
int column_of(const NsysQuery& query, std::string_view name) {
  for (int i = 0; i < query.columns(); ++i) {
    if (query.column_name(i) == name) return i;
  }
  return -1;
}

std::int64_t number_in(const NsysQuery& query, int column, std::int64_t otherwise) {
  return column < 0 ? otherwise : query.number(column).value_or(otherwise);
}

}  // namespace

void NsysPayloads::load(const NsysDatabase& database) {
  load_entries(database);
  load_enums(database);
}

void NsysPayloads::load_entries(const NsysDatabase& database) {
  constexpr const char* kTable = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
  if (!database.has_table(kTable)) return;
  auto query = database.rows(kTable);
  if (!query) return;
  const int domain = column_of(*query, "domainId");
  const int schema = column_of(*query, "schemaId");
  const int index = column_of(*query, "idx");
  const int name = column_of(*query, "name");
  if (schema < 0 || index < 0 || name < 0) return;
  for (auto more = query->step(); more && *more; more = query->step()) {
    Entry entry;
    entry.flags = number_in(*query, column_of(*query, "flags"), 0);
    entry.type = number_in(*query, column_of(*query, "type"), 0);
    entry.offset = number_in(*query, column_of(*query, "offset"), -1);
    entry.name = std::string(query->text(name));
    auto& entries = schemas_[{number_in(*query, domain, 0), number_in(*query, schema, 0)}];
    // Each process of a job registers the same once more.
    if (entries.size() < kMostEntries) {
      entries.emplace(number_in(*query, index, 0), std::move(entry));
    }
  }
}

void NsysPayloads::load_enums(const NsysDatabase& database) {
  constexpr const char* kTable = "NVTX_PAYLOAD_ENUM_ENTRIES";
  if (!database.has_table(kTable)) return;
  auto query = database.rows(kTable);
  if (!query) return;
  const int domain = column_of(*query, "domainId");
  const int schema = column_of(*query, "schemaId");
  const int name = column_of(*query, "name");
  const int value = column_of(*query, "value");
  if (schema < 0 || name < 0 || value < 0) return;
  for (auto more = query->step(); more && *more; more = query->step()) {
    auto& names = enums_[{number_in(*query, domain, 0), number_in(*query, schema, 0)}];
    if (names.size() < kMostEntries) {
      names.emplace(number_in(*query, value, 0), query->text(name));
    }
  }
}

// `size` becomes the bytes that the value takes; 0 for a type that is not read here (arrays, texts,
// structures in structures).
Json NsysPayloads::value(std::int64_t domain, const Entry& entry, std::string_view bytes,
                         std::size_t* size) const {
  const auto names = enums_.find({domain, entry.type});
  const bool enumeration = names != enums_.end();
  // NCCL's enumerations are as long as C's.
  const Type type = enumeration ? Type{Form::kSigned, 4} : type_of(entry.type);
  // NVTX_PAYLOAD_ENTRY_FLAG_*: pointers and offsets (bits 1 to 3), arrays (bits 4 to 6).
  constexpr std::int64_t kIndirect = 0x7e;
  *size = (entry.flags & kIndirect) != 0 ? 0 : type.size;
  if (*size == 0 || bytes.size() < *size) return nullptr;
  const Json number = scalar_at(type, bytes);
  if (!enumeration) return number;
  const auto name = names->second.find(number.get<std::int64_t>());
  return name == names->second.end() ? number : Json(name->second);
}

Json NsysPayloads::fields(std::int64_t domain, const std::vector<Entry>& entries,
                          std::string_view bytes) const {
  Json object = Json::object();
  std::size_t end = 0;
  bool placed = true;  // where the next entry lies is known
  for (const Entry& entry : entries) {
    if (entry.offset >= 0) {
      end = static_cast<std::size_t>(entry.offset);
      placed = true;
    }
    std::size_t size = 0;
    const std::string_view rest =
        placed && end <= bytes.size() ? bytes.substr(end) : std::string_view();
    Json read = value(domain, entry, rest, &size);
    const std::string key =
        entry.name.empty() ? "entry " + std::to_string(object.size()) : entry.name;
    object[key] = std::move(read);
    placed = placed && size != 0;
    end += size;
  }
  return object;
}

bool NsysPayloads::append(std::string_view bytes, std::string_view range,
                          std::string& attrs) const {
  if (bytes.size() < kHeadBytes) return false;
  const std::uint64_t payload = unsigned_at(bytes.substr(16), 8);
  if (payload > bytes.size() - kHeadBytes) return false;
  const auto domain = static_cast<std::int64_t>(unsigned_at(bytes, 4));
  const auto found =
      schemas_.find({domain, static_cast<std::int64_t>(unsigned_at(bytes.substr(8), 8))});
  if (found == schemas_.end()) return false;
  std::vector<Entry> entries;
  for (const auto& [index, entry] : found->second) entries.push_back(entry);
  const Json object = fields(domain, entries, bytes.substr(kHeadBytes, payload));
  append_member(attrs, "payload", object);
  if (!range.empty()) append_nccl(object, range, attrs);
  return true;
}

}  // namespace teller
