// Extended payloads of NVTX events in exports of Nsight Systems: the bytes of binaryData, read by
// the schemas in NVTX_PAYLOAD_SCHEMA_ENTRIES.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/nsys_database.h"

namespace teller {

class NsysPayloads {
 public:
  // Reads the schemas and enumerations, as far as the tables are there. What can't be read is left
  // out: payloads of that schema are then unknown.
  void load(const NsysDatabase& database);

  // Appends to `attrs` ('{' and members) what the bytes say: "payload", an object of the schema's
  // fields; for ranges of NCCL (`range` is their name, else "") its plain keys too, those that
  // `teller trace` writes. False, with nothing appended, if there is no such schema or the bytes
  // are not those of a payload.
  bool append(std::string_view bytes, std::string_view range, std::string& attrs) const;

 private:
  using Json = nlohmann::ordered_json;
  using Key = std::pair<std::int64_t, std::int64_t>;  // domain and schema
  struct Entry {
    std::int64_t flags = 0;
    std::int64_t type = 0;
    std::int64_t offset = -1;  // -1: behind the entry before it
    std::string name;
  };

  void load_entries(const NsysDatabase& database);
  void load_enums(const NsysDatabase& database);
  Json fields(std::int64_t domain, const std::vector<Entry>& entries, std::string_view bytes) const;
  Json value(std::int64_t domain, const Entry& entry, std::string_view bytes,
             std::size_t* size) const;

  std::map<Key, std::map<std::int64_t, Entry>> schemas_;      // entries by index
  std::map<Key, std::map<std::int64_t, std::string>> enums_;  // names by value
};

}  // namespace teller
