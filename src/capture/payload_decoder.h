// Reads the extended payloads of an NVTX event by their schemas.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "capture/payload_layout.h"

namespace teller::capture {

// One payload of an event, as copied from the process.
struct Payload {
  std::uint64_t schema = 0;
  std::uint64_t address = 0;  // where it lay; others of the event may point into it
  std::uint64_t size = 0;     // as the program stated it
  std::string_view bytes;     // that were kept
};

// Takes the payloads off the front of a record's payload; false if they make no sense.
bool take_payloads(std::string_view& payload, std::vector<Payload>* payloads);

struct DecodedPayload {
  nlohmann::ordered_json value;  // an object of fields, a single value, or a list of such
  std::string schema;            // name of the first payload's schema
  std::string message;           // of the event, where an entry holds it
  bool cut = false;              // there was more than is worth the work
};

// Work is bounded whatever schemas and payloads say: depth, values, and nothing outside the bytes
// that were kept is read. What is not there is null. `text_of_handle` gives the text of a
// registered string.
class PayloadDecoder {
 public:
  using TextOfHandle = std::function<std::string(std::uint64_t)>;
  PayloadDecoder(const PayloadSchemas& schemas, TextOfHandle text_of_handle)
      : layouts_(schemas), text_of_handle_(std::move(text_of_handle)) {}

  DecodedPayload decode(std::uint32_t domain, const std::vector<Payload>& payloads);

 private:
  using Json = nlohmann::ordered_json;
  struct Field;  // an entry while it is read

  Json decode_one(const Payload& payload);
  Json read_struct(const PayloadSchema& schema, std::string_view bytes, int depth);
  Json read_field(const Field& field);
  Json read_array(const Field& field, const PayloadLayout& layout, std::string_view bytes);
  Json read_text(const Field& field, std::string_view bytes, std::size_t character);
  Json read_element(const Field& field, const PayloadLayout& layout, std::string_view bytes);
  Json read_enum(const PayloadSchema& schema, std::string_view bytes) const;
  Json read_union(const Field& field, const PayloadSchema& schema, std::string_view bytes);
  std::uint64_t count_of(const Field& field, const PayloadLayout& layout,
                         std::string_view bytes) const;
  std::uint64_t bytes_of(const Field& field, const PayloadLayout& layout,
                         std::string_view bytes) const;
  std::string_view behind_pointer(const Field& field, std::uint64_t value) const;
  std::string_view at_address(std::uint64_t address) const;

  PayloadLayouts layouts_;
  TextOfHandle text_of_handle_;
  const std::vector<Payload>* payloads_ = nullptr;
  std::string message_;
};

}  // namespace teller::capture
