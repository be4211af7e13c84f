// Sizes of payload schemas: of two domains they are two.
#include "preload/nvtx_schema.h"

#include <gtest/gtest.h>

#include "unit/preload/played_recorder.h"

namespace teller::collector {
namespace {

constexpr std::uint64_t kId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;

// Of that id if it is not 0.
std::uint64_t register_of_size(std::uint32_t domain, std::uint64_t id, std::size_t bytes) {
  nvtxPayloadSchemaEntry_t entry{};
  entry.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  if (id != 0) schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = &entry;
  schema.numEntries = 1;
  schema.payloadStaticSize = bytes;
  schema.schemaId = id;
  return register_schema(domain, &schema);
}

TEST(NvtxSchema, TheSameIdInEachDomainHasItsOwnSize) {
  recorder();
  for (std::uint32_t domain = 1; domain <= 9; ++domain) {
    ASSERT_EQ(register_of_size(domain, kId, 8u * domain), kId);
  }
  for (std::uint32_t domain = 1; domain <= 9; ++domain) {
    EXPECT_EQ(static_size(domain, kId), 8u * domain) << domain;
  }
  EXPECT_EQ(static_size(10, kId), 0u);
}

TEST(NvtxSchema, AnIdThatIsGivenOutIsNotOneThatTheProgramChose) {
  recorder();
  const std::uint64_t ours = register_of_size(1, 0, 24);
  ASSERT_GE(ours, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  EXPECT_EQ(static_size(1, ours), 24u);
  EXPECT_EQ(static_size(1, ours + 1), 0u);
  EXPECT_EQ(static_size(2, ours), 0u);
}

}  // namespace
}  // namespace teller::collector
