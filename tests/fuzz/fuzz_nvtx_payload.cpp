// Schemas of NVTX payloads as a traced process registers them, and payloads read by them.
#include "capture/payload_decoder.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller;
  fuzz::Taker input(data, size);
  capture::PayloadSchemas schemas;
  const std::uint32_t definitions = input.number() % 7;
  for (std::uint32_t i = 0; i < definitions; ++i) {
    const bool is_enum = input.number() % 2 == 1;
    const std::uint64_t id = input.number() % 41;
    const std::string text(input.bytes(512));
    schemas.define(is_enum ? ring::DefinitionKind::kEnum : ring::DefinitionKind::kSchema, 0,
                   id < 32 ? id : capture::nvtx::kFirstStaticSchema + id, text);
  }
  capture::PayloadDecoder decoder(schemas, [](std::uint64_t) { return std::string("registered"); });
  std::string_view rest = input.rest();
  std::vector<capture::Payload> payloads;
  if (!capture::take_payloads(rest, &payloads)) return 0;
  const capture::DecodedPayload decoded = decoder.decode(0, payloads);
  const std::string text =
      decoded.value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  fuzz::demand(text.size() < 64u << 20, "a payload that grew without end");
  return 0;
}
