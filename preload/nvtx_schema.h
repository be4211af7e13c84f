// Payload schemas and enumerations of NVTX, as the program registers them.
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>

namespace teller::collector {

// Keeps a schema or an enumeration for the recorder; returns its id, 0 if it cannot be kept. What
// it points to is read with care: counts and addresses may be wrong. Allocates. [MT]
std::uint64_t register_schema(std::uint32_t domain,
                              const nvtxPayloadSchemaAttr_t* attributes) noexcept;
std::uint64_t register_enum(std::uint32_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept;

// Bytes of a payload of that schema or predefined type, where they are the same for all; 0 where
// they are not known. [MT]
std::size_t static_size(std::uint32_t domain, std::uint64_t schema) noexcept;

}  // namespace teller::collector
