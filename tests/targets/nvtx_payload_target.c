// A program that marks itself with NVTX's extended payloads: as NCCL does, in all types, and with schemas and payloads that
// lie; and nests its ranges deeply. What it prints at its end says that it got so far.
#define _GNU_SOURCE
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static nvtxEventAttributes_t named(const char* message) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

static void mark(nvtxDomainHandle_t domain, const char* message, const nvtxPayloadData_t* data, int count) {
  nvtxEventAttributes_t attributes = named(message);
  attributes.payloadType = (int32_t)NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = count;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)data;
  nvtxDomainMarkEx(domain, &attributes);
}

static uint64_t schema_of(nvtxDomainHandle_t domain, const char* name, uint64_t type, const nvtxPayloadSchemaEntry_t* entries,
                          size_t count, size_t size, uint64_t id) {
  nvtxPayloadSchemaAttr_t attributes = {0};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         (size != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE : 0) |
                         (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  attributes.name = name;
  attributes.type = type;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = size;
  attributes.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

// As NCCL registers and passes its payloads (src/include/nvtx_payload_schemas.h of NCCL 2.27).
static void nccl(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  static const nvtxPayloadEnum_t operations[] = {{"Sum", 0, 0}, {"Product", 1, 0}, {"Max", 2, 0}};
  nvtxPayloadEnumAttr_t reduction = {0};
  reduction.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                        NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  reduction.entries = operations;
  reduction.numEntries = COUNT(operations);
  reduction.sizeOfEnum = sizeof(int);
  reduction.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11;
  nvtxPayloadEnumRegister(domain, &reduction);

  struct all_reduce {
    uint64_t comm;
    size_t bytes;
    int op;
  } arguments = {0xfedcba9876543210u, 1 << 20, 2};
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, offsetof(struct all_reduce, comm), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, offsetof(struct all_reduce, bytes), NULL, NULL},
      {0, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11, "Reduction operation", NULL, 0, offsetof(struct all_reduce, op), NULL, NULL},
  };
  const uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  schema_of(domain, "AllReduce", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, COUNT(entries), 0, id);
  nvtxPayloadData_t data[] = {{id, sizeof arguments, &arguments}};
  nvtxEventAttributes_t attributes = named("ncclAllReduce");
  attributes.payloadType = (int32_t)NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)data;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);

  struct init {
    uint64_t comm;
    int nranks, rank, device;
  } init = {0x1234, 8, 3, 1};
  const nvtxPayloadSchemaEntry_t init_entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", NULL, 0, offsetof(struct init, nranks), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", NULL, 0, offsetof(struct init, rank), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", NULL, 0, offsetof(struct init, device), NULL, NULL},
  };
  const uint64_t init_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  schema_of(domain, "CommInitRank", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, init_entries, COUNT(init_entries), 0, init_id);
  nvtxPayloadData_t init_data[] = {{init_id, sizeof init, &init}};
  mark(domain, "ncclCommInitRank", init_data, 1);
}

// Types, arrays, nesting, strings, unions, offsets by alignment.
static void types(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("types");
  struct point {
    int16_t x, y;
  };
  const nvtxPayloadSchemaEntry_t point[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x", NULL, 0, 0, NULL, NULL},
                                            {0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "y", NULL, 0, 0, NULL, NULL}};
  const uint64_t point_id = schema_of(domain, "point", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, point, COUNT(point), 0, 0);
  const nvtxPayloadSchemaEntry_t either[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real", NULL, 0, 0, NULL, NULL},
                                             {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "whole", NULL, 0, 0, NULL, NULL}};
  const uint64_t either_id = schema_of(domain, "either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, either, COUNT(either), 4, 0);
  struct {
    uint8_t small;
    double real;
    int32_t three[3];
    struct point points[2];
    char text[8];
    nvtxStringHandle_t string;
    uint32_t selector;
    int32_t whole;
    const char* elsewhere;
    uint16_t half;
    int64_t negative;
  } all = {200, 2.5, {1, -2, 3}, {{4, 5}, {6, 7}}, "inline", NULL, 1, -9, "not in the event", 0x3e00, -1};
  all.string = nvtxDomainRegisterStringA(domain, "registered");
  const uint64_t fixed = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "small", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "real", NULL, 0, 0, NULL, NULL},
      {fixed, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "three", NULL, 3, 0, NULL, NULL},
      {fixed, point_id, "points", NULL, 2, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 8, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "string", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "selector", NULL, 0, 0, NULL, NULL},
      {0, either_id, "either", NULL, 6, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "elsewhere", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "half", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "negative", NULL, 0, 0, NULL, NULL},
  };
  const uint64_t id = schema_of(domain, "all", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, COUNT(entries), sizeof all, 0);
  nvtxPayloadData_t data[] = {{id, sizeof all, &all}};
  mark(domain, "all types", data, 1);

  // A dynamic schema: a length, then so many values; and a string in another payload of the event.
  struct {
    uint32_t length;
    uint32_t values[4];
  } dynamic = {4, {10, 20, 30, 40}};
  const nvtxPayloadSchemaEntry_t list[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "length", NULL, 0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "values", NULL, 0, 0, NULL, NULL}};
  const uint64_t list_id = schema_of(domain, "list", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, list, COUNT(list), 0, 0);
  static const char text[] = "pointed to";
  struct {
    const char* text;
  } pointing = {text};
  const nvtxPayloadSchemaEntry_t pointer[] = {{NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
                                               NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0, NULL, NULL}};
  const uint64_t pointer_id = schema_of(domain, "pointer", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, pointer, 1, 8, 0);
  nvtxPayloadData_t several[] = {{list_id, sizeof dynamic, &dynamic},
                                 {pointer_id, sizeof pointing, &pointing},
                                 {NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, sizeof text, text}};
  mark(domain, "several", several, 3);
  // Events that consist of payloads; an entry holds the message.
  const nvtxPayloadSchemaEntry_t message[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message", NULL, 16, 0, NULL, NULL}};
  const uint64_t message_id = schema_of(domain, "message", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, message, 1, 16, 0);
  char name[16] = "by payload";
  nvtxPayloadData_t event[] = {{message_id, sizeof name, name}};
  nvtxRangePushPayload(domain, event, 1);
  const int64_t result = -7;
  nvtxPayloadData_t end[] = {{NVTX_PAYLOAD_ENTRY_TYPE_INT64, sizeof result, &result}};
  nvtxRangePopPayload(domain, end, 1);
  nvtxMarkPayload(domain, event, 1);
  nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, event, 1), end, 1);
}

// The last bytes of a page that nothing follows.
static char* at_the_edge(size_t bytes) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  memset(pages + 4096 - bytes, 'e', bytes);
  return pages + 4096 - bytes;
}

static void mark_one(nvtxDomainHandle_t domain, const char* message, uint64_t id, size_t size, const void* payload) {
  nvtxPayloadData_t data[] = {{id, size, payload}};
  mark(domain, message, data, 1);
}

static void hostile(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("hostile");
  const uint64_t fixed = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  const uint64_t start = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  static uint64_t numbers[64];
  for (size_t i = 0; i < COUNT(numbers); ++i) numbers[i] = ~(uint64_t)0;
  // A schema within itself, and two within each other.
  const nvtxPayloadSchemaEntry_t self[] = {{0, start + 1, "self", NULL, 0, 0, NULL, NULL},
                                           {fixed, start + 1, "selves", NULL, ~(uint64_t)0, 0, NULL, NULL}};
  schema_of(domain, "self", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, self, COUNT(self), 0, start + 1);
  mark_one(domain, "cycle", start + 1, sizeof numbers, numbers);
  const nvtxPayloadSchemaEntry_t one[] = {{fixed, start + 3, "three", NULL, 1000, 0, NULL, NULL}};
  const nvtxPayloadSchemaEntry_t two[] = {{fixed, start + 2, "two", NULL, 1000, 0, NULL, NULL}};
  schema_of(domain, "two", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, one, 1, 8, start + 2);
  schema_of(domain, "three", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, two, 1, 8, start + 3);
  mark_one(domain, "two cycles", start + 2, sizeof numbers, numbers);
  // Counts and offsets of all sizes, lengths in entries that are not there.
  const uint64_t index = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
  const nvtxPayloadSchemaEntry_t counts[] = {
      {fixed, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "many", NULL, ~(uint64_t)0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "far", NULL, 0, ~(uint64_t)0 - 7, NULL, NULL},
      {index, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "own length", NULL, 2, 0, NULL, NULL},
      {index, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "no length", NULL, 1000, 0, NULL, NULL},
      {4u << 4, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "no payload", NULL, 1000, 0, NULL, NULL},
      {7u << 4, 999, "no type", NULL, ~(uint64_t)0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "wild", NULL, 0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "from base", NULL, 0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "from here", NULL, 0, 0, NULL, NULL},
      {0, start + 77, "not registered", NULL, 0, 0, NULL, NULL},
      {~(uint64_t)0, ~(uint64_t)0, "all bits", NULL, ~(uint64_t)0, 0, NULL, NULL}};
  const uint64_t id = schema_of(domain, "counts", ~(uint64_t)0, counts, COUNT(counts), 0, start + 4);
  mark_one(domain, "counts", id, sizeof numbers, numbers);
  // Sizes that lie: of the payload, of the schema, at the end of what is mapped.
  char* edge = at_the_edge(16);
  mark_one(domain, "size of the payload", start + 2, (size_t)1 << 40, edge);
  mark_one(domain, "size of a string", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, edge);
  mark_one(domain, "raw", NVTX_TYPE_PAYLOAD_SCHEMA_RAW, (size_t)1 << 50, edge);
  const nvtxPayloadSchemaEntry_t lying[] = {{fixed, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "bytes", NULL, 1u << 30, 0, NULL, NULL}};
  schema_of(domain, "lying", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, lying, 1, (size_t)1 << 40, start + 5);
  mark_one(domain, "size of the schema", start + 5, SIZE_MAX, edge);
  mark_one(domain, "nowhere", start + 2, 64, (const void*)16);
  mark_one(domain, "null", start + 2, 64, NULL);
  mark_one(domain, "unknown", start + 1234, 8, numbers);
  // More entries, payloads and bytes than there are.
  const nvtxPayloadSchemaEntry_t* table = (const nvtxPayloadSchemaEntry_t*)at_the_edge(sizeof(nvtxPayloadSchemaEntry_t));
  memset((void*)table, 0, sizeof *table);
  schema_of(domain, "entries", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, table, SIZE_MAX / 2, 0, start + 6);
  schema_of(domain, (const char*)8, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, (const nvtxPayloadSchemaEntry_t*)8, 5, 0, start + 7);
  nvtxPayloadSchemaRegister(domain, NULL);
  nvtxPayloadSchemaRegister(domain, (const nvtxPayloadSchemaAttr_t*)(uintptr_t)0x123456789000);
  nvtxPayloadEnumRegister(domain, NULL);
  nvtxPayloadData_t few[] = {{start + 2, sizeof numbers, numbers}};
  mark(domain, "negative", few, -5);
  mark(domain, "no list", NULL, 3);
  nvtxPayloadData_t* last = (nvtxPayloadData_t*)at_the_edge(sizeof *last);
  *last = few[0];
  mark(domain, "short list", last, 1000);
  nvtxMarkPayload(domain, NULL, 7);
  nvtxMarkPayload((nvtxDomainHandle_t)(uintptr_t)0xdead, few, 1);
}

// Nesting deeper than any counter of bits, faster than a ring takes it.
static void deep(int levels) {
  char message[512];
  memset(message, 'd', sizeof message);
  message[sizeof message - 1] = 0;
  for (int round = 0; round < 20; ++round) {
    for (int level = 0; level < levels; ++level) nvtxRangePushA(message);
    // Leaves and comes back, so that pushes that were written stand above those that were not.
    for (int turn = 0; turn < 50; ++turn) {
      for (int i = 0; i < turn % 7 * 20; ++i) nvtxRangePop();
      usleep(500);
      for (int i = 0; i < turn % 7 * 20; ++i) nvtxRangePushA("again");
    }
    for (int level = 0; level < levels; ++level) nvtxRangePop();
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "nccl")) nccl();
  if (!strcmp(what, "types")) types();
  if (!strcmp(what, "hostile")) hostile();
  if (!strcmp(what, "deep")) deep(2000);
  if (!strcmp(what, "many")) {  // schemas of all names, again and again
    nvtxDomainHandle_t domain = nvtxDomainCreateA("many");
    const nvtxPayloadSchemaEntry_t entry[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "x", NULL, 0, 0, NULL, NULL}};
    for (int i = 0; i < 5000; ++i) schema_of(domain, "one of many", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entry, 1, 1, 0);
  }
  puts("to the end");
  return 0;
}
