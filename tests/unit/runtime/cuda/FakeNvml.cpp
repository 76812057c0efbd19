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
int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) { return *milliwatts = 700000, 0; }
int nvmlDeviceGetPersistenceMode(void *, unsigned *on) { return *on = 1, 0; }
int nvmlDeviceGetEccMode(void *, unsigned *now, unsigned *next) { return *now = 1, *next = 0, 0; }
int nvmlDeviceGetMigMode(void *, unsigned *now, unsigned *next) {
  return *now = *next = 0, fakeNvml().hasMig ? 0 : 3;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, void *list) {
  const bool enough = *count >= fakeNvml().processes || fakeNvml().processes == 0;
  return *count = fakeNvml().processes, enough && list ? 0 : 7;
}
}
