// Stands in for NVIDIA's libnvidia-ml.so.1 in tests: two GPUs, the second of which is lost. Each
// function has the documented signature; values are fixed.
#include <stdio.h>
#include <string.h>

typedef void* Device;
struct MemoryInfo {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

enum { kSuccess = 0, kInvalid = 2, kNotSupported = 3, kTimeout = 10, kGpuIsLost = 15 };

static char devices[2];
static int events_left = 1;

static int lost(Device device) {
  return device == &devices[1];
}

int nvmlInit_v2(void) {
  return kSuccess;
}
int nvmlShutdown(void) {
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index > 1) return kInvalid;
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetUUID(Device device, char* uuid, unsigned size) {
  snprintf(uuid, size, "GPU-fake-%d", lost(device));
  return kSuccess;
}
int nvmlDeviceGetClockInfo(Device device, unsigned type, unsigned* mhz) {
  if (lost(device)) return kGpuIsLost;
  *mhz = 1000 + type;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  if (lost(device)) return kGpuIsLost;
  *reasons = 0x4 | 0x40;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  if (lost(device)) return kGpuIsLost;
  *milliwatts = 350000;
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(Device device, struct MemoryInfo* info) {
  if (lost(device)) return kGpuIsLost;
  info->total = 80ull << 30;
  info->used = 60ull << 30;
  info->free = info->total - info->used;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(Device device, struct Utilization* utilization) {
  if (lost(device)) return kGpuIsLost;
  utilization->gpu = 97;
  utilization->memory = 40;
  return kSuccess;
}
int nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned* celsius) {
  (void)device;
  (void)sensor;
  (void)celsius;
  return kNotSupported;
}
int nvmlDeviceGetTotalEccErrors(Device device, unsigned type, unsigned counter,
                                unsigned long long* count) {
  if (lost(device) || counter != 0) return kGpuIsLost;
  *count = type == 1 ? 2 : 5;
  return kSuccess;
}
int nvmlEventSetCreate(Device* set) {
  *set = devices;
  return kSuccess;
}
int nvmlDeviceRegisterEvents(Device device, unsigned long long types, Device set) {
  (void)device;
  (void)types;
  return set == devices ? kSuccess : kInvalid;
}
int nvmlEventSetWait_v2(Device set, struct EventData* data, unsigned timeout_ms) {
  if (set != devices || timeout_ms != 0 || events_left == 0) return kTimeout;
  --events_left;
  memset(data, 0, sizeof *data);
  data->device = &devices[1];
  data->type = 0x8;
  data->data = 79;
  return kSuccess;
}
int nvmlEventSetFree(Device set) {
  return set == devices ? kSuccess : kInvalid;
}
