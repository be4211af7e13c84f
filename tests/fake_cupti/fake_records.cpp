// Records in the layouts of CUDA 12 and 13.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "fake.h"

namespace fake {

namespace {

constexpr std::uint32_t kCuda13 = 130000;
constexpr std::uint32_t kCuda12_8 = 26;
constexpr std::uint32_t kCuda12_2 = 20;

class Reader {
 public:
  explicit Reader(const Fields& fields) : fields_(fields) {}
  std::uint64_t number(const char* key) const {
    const auto found = fields_.find(key);
    return found == fields_.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 0);
  }
  // Lives as long as the process, as names in CUPTI's records do.
  const char* text(const char* key) const {
    static std::mutex mutex;
    static auto* kept = new std::deque<std::string>;
    const std::lock_guard lock(mutex);
    const auto found = fields_.find(key);
    if (found == fields_.end()) return nullptr;
    kept->push_back(found->second);
    return kept->back().c_str();
  }

 private:
  const Fields& fields_;
};

template <typename Activity>
Activity empty(CUpti_ActivityKind kind) {
  Activity activity;
  // What nobody sets must not be read: other bytes in every record.
  std::memset(static_cast<void*>(&activity), 0xa5, sizeof activity);
  activity.kind = kind;
  return activity;
}

template <typename Activity>
Bytes bytes_of(const Activity& activity) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&activity);
  return {begin, begin + sizeof activity};
}

template <typename Activity>
void place(Activity& activity, const Reader& in) {
  activity.start = in.number("start");
  activity.end = in.number("end");
  activity.deviceId = static_cast<std::uint32_t>(in.number("device"));
  activity.contextId = static_cast<std::uint32_t>(in.number("context"));
  activity.streamId = static_cast<std::uint32_t>(in.number("stream"));
  activity.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  activity.graphId = static_cast<std::uint32_t>(in.number("graph"));
}

template <typename Kernel>
Bytes kernel(const Reader& in) {
  auto record = empty<Kernel>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  place(record, in);
  record.graphNodeId = in.number("node");
  record.name = in.text("name");
  return bytes_of(record);
}

template <typename Copy>
Bytes copy(const Reader& in, CUpti_ActivityKind kind) {
  auto record = empty<Copy>(kind);
  place(record, in);
  record.graphNodeId = in.number("node");
  record.bytes = in.number("bytes");
  record.copyKind = static_cast<std::uint8_t>(in.number("kind"));
  record.srcKind = static_cast<std::uint8_t>(in.number("from"));
  record.dstKind = static_cast<std::uint8_t>(in.number("to"));
  if constexpr (requires { record.srcDeviceId; }) {
    record.srcDeviceId = static_cast<std::uint32_t>(in.number("from_device"));
    record.dstDeviceId = static_cast<std::uint32_t>(in.number("to_device"));
  }
  return bytes_of(record);
}

Bytes fill(const Reader& in) {
  auto record = empty<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  place(record, in);
  record.graphNodeId = in.number("node");
  record.bytes = in.number("bytes");
  record.memoryKind = static_cast<std::uint16_t>(in.number("memory"));
  return bytes_of(record);
}

template <typename Graph>
Bytes graph(const Reader& in) {
  auto record = empty<Graph>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  place(record, in);
  return bytes_of(record);
}

template <typename Sync>
Bytes sync(const Reader& in) {
  auto record = empty<Sync>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  record.type = static_cast<CUpti_ActivitySynchronizationType>(in.number("type"));
  record.start = in.number("start");
  record.end = in.number("end");
  record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  record.contextId = static_cast<std::uint32_t>(in.number("context"));
  record.streamId = static_cast<std::uint32_t>(in.number("stream"));
  if constexpr (requires { record.returnValue; }) {
    record.returnValue = static_cast<std::uint32_t>(in.number("result"));
  }
  return bytes_of(record);
}

template <typename Overhead>
Bytes overhead(const Reader& in) {
  auto record = empty<Overhead>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(in.number("kind"));
  record.start = in.number("start");
  record.end = in.number("end");
  if constexpr (requires { record.correlationId; }) {
    record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  }
  return bytes_of(record);
}

template <typename Jit>
Bytes jit(const Reader& in) {
  auto record = empty<Jit>(CUPTI_ACTIVITY_KIND_JIT);
  record.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN;
  record.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
  record.deviceId = static_cast<std::uint32_t>(in.number("device"));
  record.start = in.number("start");
  record.end = in.number("end");
  record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  record.cacheSize = in.number("bytes");
  return bytes_of(record);
}

template <typename Memory>
Bytes memory(const Reader& in) {
  auto record = empty<Memory>(CUPTI_ACTIVITY_KIND_MEMORY2);
  record.memoryOperationType =
      static_cast<CUpti_ActivityMemoryOperationType>(in.number("operation"));
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  record.address = in.number("address");
  record.bytes = in.number("bytes");
  record.timestamp = in.number("start");
  record.deviceId = static_cast<std::uint32_t>(in.number("device"));
  record.contextId = static_cast<std::uint32_t>(in.number("context"));
  record.streamId = 0xffffffff;
  record.memoryPoolConfig.address = in.number("pool");
  return bytes_of(record);
}

template <typename Pool>
Bytes pool(const Reader& in) {
  auto record = empty<Pool>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  record.memoryPoolOperationType =
      static_cast<CUpti_ActivityMemoryPoolOperationType>(in.number("operation"));
  record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  record.deviceId = static_cast<std::uint32_t>(in.number("device"));
  record.address = in.number("pool");
  record.size = in.number("bytes");
  record.timestamp = in.number("start");
  record.utilizedSize = in.number("used");
  return bytes_of(record);
}

Bytes module(const Reader& in) {
  auto record = empty<CUpti_ActivityModule>(CUPTI_ACTIVITY_KIND_MODULE);
  record.contextId = static_cast<std::uint32_t>(in.number("context"));
  record.id = static_cast<std::uint32_t>(in.number("id"));
  record.cubinSize = static_cast<std::uint32_t>(in.number("bytes"));
  return bytes_of(record);
}

Bytes external(const Reader& in) {
  auto record = empty<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(in.number("kind"));
  record.externalId = in.number("external");
  record.correlationId = static_cast<std::uint32_t>(in.number("corr"));
  return bytes_of(record);
}

template <typename Context>
Bytes context(const Reader& in) {
  auto record = empty<Context>(CUPTI_ACTIVITY_KIND_CONTEXT);
  record.contextId = static_cast<std::uint32_t>(in.number("context"));
  record.deviceId = static_cast<std::uint32_t>(in.number("device"));
  record.nullStreamId = static_cast<std::uint16_t>(in.number("stream"));
  return bytes_of(record);
}

Bytes name(const Reader& in) {
  auto record = empty<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  record.objectKind = static_cast<CUpti_ActivityObjectKind>(in.number("object"));
  record.objectId.dcs.deviceId = static_cast<std::uint32_t>(in.number("device"));
  record.objectId.dcs.contextId = static_cast<std::uint32_t>(in.number("context"));
  record.objectId.dcs.streamId = static_cast<std::uint32_t>(in.number("stream"));
  record.name = in.text("name");
  return bytes_of(record);
}

Bytes unknown(const Reader& in) {
  Bytes record(std::max<std::size_t>(in.number("bytes"), sizeof(CUpti_Activity)), 0xa5);
  const auto kind = static_cast<std::int32_t>(in.number("kind"));
  std::memcpy(record.data(), &kind, sizeof kind);
  return record;
}

}  // namespace

Bytes make_record(const std::string& what, const Fields& fields) {
  const Reader in(fields);
  const bool new13 = version() >= kCuda13;
  const bool new12 = version() >= kCuda12_8;
  if (what == "kernel") {
    return new13 ? kernel<CUpti_ActivityKernel10>(in) : kernel<CUpti_ActivityKernel9>(in);
  }
  if (what == "memcpy") {
    return new12 ? copy<CUpti_ActivityMemcpy6>(in, CUPTI_ACTIVITY_KIND_MEMCPY)
                 : copy<CUpti_ActivityMemcpy5>(in, CUPTI_ACTIVITY_KIND_MEMCPY);
  }
  if (what == "peer") return copy<CUpti_ActivityMemcpyPtoP4>(in, CUPTI_ACTIVITY_KIND_MEMCPY2);
  if (what == "memset") return fill(in);
  if (what == "graph") {
    return new13 ? graph<CUpti_ActivityGraphTrace2>(in) : graph<CUpti_ActivityGraphTrace>(in);
  }
  if (what == "sync") {
    return new12 ? sync<CUpti_ActivitySynchronization2>(in)
                 : sync<CUpti_ActivitySynchronization>(in);
  }
  if (what == "overhead") {
    return new13                    ? overhead<CUpti_ActivityOverhead3>(in)
           : version() >= kCuda12_2 ? overhead<CUpti_ActivityOverhead2>(in)
                                    : overhead<CUpti_ActivityOverhead>(in);
  }
  if (what == "jit") return new13 ? jit<CUpti_ActivityJit2>(in) : jit<CUpti_ActivityJit>(in);
  if (what == "memory") {
    return new13 ? memory<CUpti_ActivityMemory4>(in) : memory<CUpti_ActivityMemory3>(in);
  }
  if (what == "pool") {
    return new13 ? pool<CUpti_ActivityMemoryPool3>(in) : pool<CUpti_ActivityMemoryPool2>(in);
  }
  if (what == "module") return module(in);
  if (what == "external") return external(in);
  if (what == "context") {
    return new13 ? context<CUpti_ActivityContext3>(in) : context<CUpti_ActivityContext2>(in);
  }
  if (what == "name") return name(in);
  return what == "unknown" ? unknown(in) : Bytes();
}

}  // namespace fake
