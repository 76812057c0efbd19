// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/Nvml.h"

#include <algorithm>
#include <dlfcn.h>

namespace kopt::runtime::cuda {

namespace {

constexpr int kSuccess = 0, kNotFound = 6, kInsufficientSize = 7;
constexpr int kClockSm = 1, kTemperatureGpu = 0;

/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
};
static_assert(sizeof(ProcessInfo) == 24);

/// nvmlProcessUtilizationSample_t.
struct UtilizationSample {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned smUtil, memUtil, encUtil, decUtil;
};
static_assert(sizeof(UtilizationSample) == 32);

struct Reason {
  unsigned long long bit;
  const char *name;
};
constexpr Reason kThrottling[] = {
    {0x08, "hw-slowdown"}, {0x20, "sw-thermal"}, {0x40, "hw-thermal"}, {0x80, "power-brake"}};

} // namespace

template <class Signature> Signature *Nvml::find(const char *name) const {
  return library_ ? reinterpret_cast<Signature *>(dlsym(library_, name)) : nullptr;
}

Nvml::Nvml(const std::string &pciBusId) {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init = find<int()>("nvmlInit_v2");
  const auto open = find<int(const char *, void **)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !open || init() != kSuccess || open(pciBusId.c_str(), &device_) != kSuccess)
    device_ = nullptr;
}

Nvml::~Nvml() {
  if (!library_)
    return;
  if (const auto shutdown = find<int()>("nvmlShutdown"))
    shutdown();
  dlclose(library_);
}

bool Nvml::get(const char *name, unsigned &value) const {
  const auto getter = find<int(void *, unsigned *)>(name);
  return device_ && getter && getter(device_, &value) == kSuccess;
}

bool Nvml::getOf(const char *name, int which, unsigned &value) const {
  const auto getter = find<int(void *, int, unsigned *)>(name);
  return device_ && getter && getter(device_, which, &value) == kSuccess;
}

unsigned Nvml::smClockMHz() const {
  unsigned clock = 0;
  return getOf("nvmlDeviceGetClockInfo", kClockSm, clock) ? clock : 0;
}

std::vector<std::string> Nvml::throttleReasons() const {
  std::vector<std::string> reasons;
  unsigned long long bits = 0;
  const auto getter =
      find<int(void *, unsigned long long *)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  if (!device_ || !getter || getter(device_, &bits) != kSuccess)
    return reasons;
  for (const Reason &reason : kThrottling)
    if (bits & reason.bit)
      reasons.push_back(reason.name);
  return reasons;
}

std::map<std::string, std::string> Nvml::facts() const {
  std::map<std::string, std::string> known;
  if (!device_)
    return known;
  char version[96] = "";
  if (const auto getter = find<int(char *, unsigned)>("nvmlSystemGetDriverVersion");
      getter && getter(version, sizeof version) == kSuccess)
    known["driver_version"] = version;
  unsigned value = 0, pending = 0;
  if (getOf("nvmlDeviceGetMaxClockInfo", kClockSm, value))
    known["max_sm_clock_mhz"] = std::to_string(value);
  if (get("nvmlDeviceGetEnforcedPowerLimit", value)) // milliwatts
    known["power_limit_w"] = std::to_string(value / 1000);
  if (getOf("nvmlDeviceGetTemperature", kTemperatureGpu, value))
    known["temperature_c"] = std::to_string(value);
  const auto state = [](unsigned on) { return on ? "on" : "off"; };
  if (get("nvmlDeviceGetPersistenceMode", value))
    known["persistence"] = state(value);
  for (const auto &[name, function] :
       {std::pair("ecc", "nvmlDeviceGetEccMode"), std::pair("mig", "nvmlDeviceGetMigMode")})
    if (const auto getter = find<int(void *, unsigned *, unsigned *)>(function);
        getter && getter(device_, &value, &pending) == kSuccess)
      known[name] = state(value);
  unsigned processes = 0;
  if (const auto getter =
          find<int(void *, unsigned *, void *)>("nvmlDeviceGetComputeRunningProcesses_v3")) {
    const int result = getter(device_, &processes, nullptr);
    if (result == kSuccess || result == kInsufficientSize)
      known["compute_processes"] = std::to_string(processes);
  }
  return known;
}

/// All items that `ask` has. If there are more than fit, asks again with more space. Nothing if
/// they are not known.
template <class Item, class Ask> static std::optional<std::vector<Item>> askForAll(Ask ask) {
  std::vector<Item> items;
  for (int attempt = 0; attempt < 4; ++attempt) {
    unsigned count = unsigned(items.size());
    const int result = ask(count, items.empty() ? nullptr : items.data());
    if (result == kNotFound || (result == kSuccess && count == 0))
      return std::vector<Item>();
    if (result == kSuccess && !items.empty()) {
      items.resize(std::min<std::size_t>(count, items.size()));
      return items;
    }
    if (result != kSuccess && result != kInsufficientSize)
      return std::nullopt;
    items.resize(std::max<std::size_t>(count, items.size()) + 16);
  }
  return std::nullopt;
}

std::optional<std::vector<GpuProcess>> Nvml::computeProcesses() const {
  const auto getter =
      find<int(void *, unsigned *, ProcessInfo *)>("nvmlDeviceGetComputeRunningProcesses_v3");
  if (!device_ || !getter)
    return std::nullopt;
  const auto infos = askForAll<ProcessInfo>(
      [&](unsigned &count, ProcessInfo *room) { return getter(device_, &count, room); });
  if (!infos)
    return std::nullopt;
  std::vector<GpuProcess> processes;
  for (const ProcessInfo &info : *infos)
    processes.push_back({info.pid, info.gpuInstanceId});
  return processes;
}

std::optional<std::vector<GpuLoad>> Nvml::loads() const {
  const auto getter = find<int(void *, UtilizationSample *, unsigned *, unsigned long long)>(
      "nvmlDeviceGetProcessUtilization");
  if (!device_ || !getter)
    return std::nullopt;
  const auto samples = askForAll<UtilizationSample>(
      [&](unsigned &count, UtilizationSample *room) { return getter(device_, room, &count, 0); });
  if (!samples)
    return std::nullopt;
  std::vector<GpuLoad> loads;
  for (const UtilizationSample &sample : *samples)
    loads.push_back({sample.pid, sample.timeStamp, sample.smUtil});
  return loads;
}

} // namespace kopt::runtime::cuda
