#include "context/gpu.h"

#include <dlfcn.h>

#include <string>
#include <utility>

namespace teller {

namespace {

using Json = ContextRecord;

// What is used of NVML, as its stable ABI has it.
using Device = void*;
using EventSet = void*;
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr unsigned kMaxGpus = 64;
constexpr int kMaxEventsPerSample = 64;
constexpr unsigned kGraphicsClock = 0;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned long long kEccSingleBit = 0x1;
constexpr unsigned long long kEccDoubleBit = 0x2;
constexpr unsigned long long kXid = 0x8;

struct MemoryInfo {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct ThrottleName {
  unsigned long long bit;
  const char* name;
};
constexpr ThrottleName kThrottles[] = {
    {0x1, "idle"},        {0x2, "application_clocks"}, {0x4, "power_cap"},
    {0x8, "hw_slowdown"}, {0x10, "sync_boost"},        {0x20, "sw_thermal"},
    {0x40, "hw_thermal"}, {0x80, "power_brake"},       {0x100, "display_clocks"}};

Json throttle_names(unsigned long long reasons) {
  Json names = Json::array();
  for (const ThrottleName& entry : kThrottles) {
    if ((reasons & entry.bit) != 0) names.push_back(entry.name);
  }
  return names;
}

}  // namespace

struct Gpus::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device_at)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*throttle)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*memory)(Device, MemoryInfo*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*ecc)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*new_set)(EventSet*) = nullptr;
  int (*register_events)(Device, unsigned long long, EventSet) = nullptr;
  int (*wait_event)(EventSet, EventData*, unsigned) = nullptr;
  int (*free_set)(EventSet) = nullptr;
  bool ready = false;
  EventSet events = nullptr;
  std::vector<Device> devices;
  std::vector<std::string> uuids;

  template <typename Function>
  void find(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
  }
  void find_all();
  void watch_events();
  Json sample(unsigned index) const;
  void add_events(std::vector<Json>& records) const;
};

void Gpus::Library::find_all() {
  find("nvmlInit_v2", init);
  find("nvmlShutdown", shutdown);
  find("nvmlDeviceGetCount_v2", count);
  find("nvmlDeviceGetHandleByIndex_v2", device_at);
  find("nvmlDeviceGetUUID", uuid);
  find("nvmlDeviceGetName", name);
  find("nvmlDeviceGetClockInfo", clock);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", throttle);
  if (throttle == nullptr) find("nvmlDeviceGetCurrentClocksEventReasons", throttle);
  find("nvmlDeviceGetPowerUsage", power);
  find("nvmlDeviceGetEnforcedPowerLimit", power_limit);
  find("nvmlDeviceGetMemoryInfo", memory);
  find("nvmlDeviceGetUtilizationRates", utilization);
  find("nvmlDeviceGetTemperature", temperature);
  find("nvmlDeviceGetTotalEccErrors", ecc);
  find("nvmlEventSetCreate", new_set);
  find("nvmlDeviceRegisterEvents", register_events);
  find("nvmlEventSetWait_v2", wait_event);
  find("nvmlEventSetFree", free_set);
}

// A GPU that cannot tell one kind of event may tell the others.
void Gpus::Library::watch_events() {
  if (new_set == nullptr || register_events == nullptr || wait_event == nullptr) return;
  if (new_set(&events) != kSuccess) {
    events = nullptr;
    return;
  }
  for (const Device device : devices) {
    for (const unsigned long long kind : {kXid, kEccDoubleBit, kEccSingleBit}) {
      register_events(device, kind, events);
    }
  }
}

Gpus::Gpus() : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml.handle == nullptr) return;
  nvml.find_all();
  if (nvml.init == nullptr || nvml.count == nullptr || nvml.device_at == nullptr) return;
  nvml.ready = nvml.init() == kSuccess;
  unsigned count = 0;
  if (!nvml.ready || nvml.count(&count) != kSuccess) return;
  for (unsigned i = 0; i < count && i < kMaxGpus; ++i) {
    Device device = nullptr;
    if (nvml.device_at(i, &device) != kSuccess) continue;
    char text[96] = "";
    const bool known = nvml.uuid != nullptr && nvml.uuid(device, text, sizeof text) == kSuccess;
    text[sizeof text - 1] = '\0';
    nvml.devices.push_back(device);
    nvml.uuids.emplace_back(known ? text : "");
  }
  nvml.watch_events();
}

Gpus::~Gpus() {
  if (library_->events != nullptr && library_->free_set != nullptr) {
    library_->free_set(library_->events);
  }
  if (library_->ready && library_->shutdown != nullptr) library_->shutdown();
  if (library_->handle != nullptr) dlclose(library_->handle);
}

bool Gpus::any() const {
  return !library_->devices.empty();
}

// What a GPU does not support is left out; an error that it answers instead is told.
Json Gpus::Library::sample(unsigned index) const {
  const Device device = devices[index];
  Json json = {{"kind", "gpu"}, {"gpu", index}, {"uuid", uuids[index]}};
  int failed = kSuccess;
  const auto good = [&](int code) {
    if (code != kSuccess && code != kNotSupported) failed = code;
    return code == kSuccess;
  };
  unsigned value = 0;
  const auto add_clock = [&](const char* key, unsigned kind) {
    if (clock != nullptr && good(clock(device, kind, &value))) json[key] = value;
  };
  add_clock("graphics_clock_mhz", kGraphicsClock);
  add_clock("sm_clock_mhz", kSmClock);
  add_clock("memory_clock_mhz", kMemoryClock);
  unsigned long long wide = 0;
  if (throttle != nullptr && good(throttle(device, &wide))) {
    json["throttle"] = throttle_names(wide);
    json["throttle_bits"] = wide;
  }
  if (power != nullptr && good(power(device, &value))) json["power_mw"] = value;
  if (power_limit != nullptr && good(power_limit(device, &value))) json["power_limit_mw"] = value;
  MemoryInfo info{};
  if (memory != nullptr && good(memory(device, &info))) {
    json["memory_used"] = info.used;
    json["memory_total"] = info.total;
  }
  Utilization busy{};
  if (utilization != nullptr && good(utilization(device, &busy))) json["busy_percent"] = busy.gpu;
  if (temperature != nullptr && good(temperature(device, 0, &value))) json["celsius"] = value;
  if (ecc != nullptr && good(ecc(device, 0, 0, &wide))) json["ecc_corrected"] = wide;
  if (ecc != nullptr && good(ecc(device, 1, 0, &wide))) json["ecc_uncorrected"] = wide;
  if (failed != kSuccess) json["nvml_error"] = failed;
  return json;
}

void Gpus::Library::add_events(std::vector<Json>& records) const {
  if (events == nullptr) return;
  for (int i = 0; i < kMaxEventsPerSample; ++i) {
    EventData data{};
    if (wait_event(events, &data, 0) != kSuccess) return;
    Json json = {{"kind", "gpu_event"}};
    for (std::size_t index = 0; index < devices.size(); ++index) {
      if (devices[index] == data.device) json["gpu"] = index;
    }
    if (data.type == kXid) {
      json["event"] = "xid";
      json["xid"] = data.data;
    } else {
      json["event"] = data.type == kEccDoubleBit ? "ecc_uncorrected" : "ecc_corrected";
    }
    records.push_back(std::move(json));
  }
}

std::vector<ContextRecord> Gpus::sample() {
  std::vector<Json> records;
  for (unsigned i = 0; i < library_->devices.size(); ++i) records.push_back(library_->sample(i));
  library_->add_events(records);
  return records;
}

}  // namespace teller
