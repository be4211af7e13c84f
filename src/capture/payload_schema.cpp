#include "capture/payload_schema.h"

#include "capture/record_bytes.h"

namespace teller::capture {

bool PayloadSchemas::define(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                            std::string_view text) {
  ring::SchemaDefinition head{};
  std::string_view name;
  if (!take(text, &head) || !take_text(text, head.name_bytes, &name)) return false;
  text.remove_prefix(name.size());
  if (head.entries > ring::kMaxSchemaEntries) return false;
  PayloadSchema schema;
  schema.is_enum = kind == ring::DefinitionKind::kEnum;
  schema.type = head.type;
  schema.bytes = head.bytes;
  schema.pack = head.pack;
  schema.name = name;
  for (std::uint32_t i = 0; i < head.entries; ++i) {
    ring::SchemaEntry entry{};
    if (!take(text, &entry) || !take_text(text, entry.name_bytes, &name)) return false;
    text.remove_prefix(name.size());
    schema.entries.push_back(
        {entry.flags, entry.type, entry.detail, entry.offset, std::string(name)});
  }
  schemas_[key_of(domain, id)] = std::move(schema);
  return true;
}

const PayloadSchema* PayloadSchemas::find(std::uint32_t domain, std::uint64_t id) const {
  const auto found = schemas_.find(key_of(domain, id));
  return found == schemas_.end() ? nullptr : &found->second;
}

// Ids that we gave out are unique, and the program may use one of one domain in another.
PayloadSchemas::Key PayloadSchemas::key_of(std::uint32_t domain, std::uint64_t id) {
  return {id < nvtx::kFirstDynamicSchema ? domain : 0, id};
}

}  // namespace teller::capture
