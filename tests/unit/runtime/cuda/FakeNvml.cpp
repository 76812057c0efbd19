// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/cuda/FakeNvml.h"

#include <cstdio>

FakeNvmlState &fakeNvml() {
  static FakeNvmlState state;
  return state;
}

extern "C" {

int nvmlInit_v2() { return fakeNvml().initResult; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **device) {
  return *device = &fakeNvml(), 0;
}
int nvmlSystemGetDriverVersion(char *version, unsigned size) {
  return std::snprintf(version, size, "580.1"), 0;
}
int nvmlDeviceGetClockInfo(void *, int which, unsigned *clock) {
  return *clock = fakeNvml().clock, which == 1 ? 0 : 2;
}
int nvmlDeviceGetMaxClockInfo(void *, int which, unsigned *clock) {
  return *clock = 1980, which == 1 ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *, unsigned long long *reasons) {
  return *reasons = fakeNvml().reasons, 0;
}
int nvmlDeviceGetTemperature(void *, int, unsigned *celsius) { return *celsius = 41, 0; }
int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) {
  return *milliwatts = 700000, 0;
}
int nvmlDeviceGetPersistenceMode(void *, unsigned *on) { return *on = 1, 0; }
int nvmlDeviceGetEccMode(void *, unsigned *now, unsigned *next) { return *now = 1, *next = 0, 0; }
int nvmlDeviceGetMigMode(void *, unsigned *now, unsigned *next) {
  return *now = *next = 0, fakeNvml().hasMig ? 0 : 3;
}
struct ProcessInfo { // as in nvml.h
  unsigned pid;
  unsigned long long memory;
  unsigned gpuInstance, computeInstance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, ProcessInfo *list) {
  const auto &known = fakeNvml().processes;
  if (!fakeNvml().knowsProcesses)
    return 3;
  const bool isEnough = *count >= known.size();
  *count = unsigned(known.size());
  if (!isEnough)
    return 7;
  for (std::size_t i = 0; i < known.size(); ++i)
    list[i] = {known[i], 1 << 20, fakeNvml().instance, ~0u};
  return 0;
}

struct Sample { // as in nvml.h
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};
int nvmlDeviceGetProcessUtilization(void *, Sample *list, unsigned *count,
                                    unsigned long long since) {
  const auto &known = fakeNvml().loads;
  if (!fakeNvml().knowsLoads)
    return 3;
  if (known.empty())
    return 6;
  const bool isEnough = list && *count >= known.size();
  *count = unsigned(known.size());
  if (!isEnough)
    return 7;
  unsigned used = 0;
  for (const FakeLoad &load : known)
    if (load.microseconds > since)
      list[used++] = {load.pid, load.microseconds, load.percent, 0, 0, 0};
  return *count = used, 0;
}
}
