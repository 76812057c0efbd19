// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/DriverApi.h"

#include <dlfcn.h>

namespace kopt::runtime::cuda {

std::string DriverApi::describe(CuResult result) const {
  const char *name = nullptr, *words = nullptr;
  if (getErrorName(result, &name) != kSuccess || !name)
    name = "unknown CUDA error";
  std::string text = std::string(name) + " (" + std::to_string(result) + ")";
  if (getErrorString(result, &words) == kSuccess && words)
    text += std::string(": ") + words;
  return text;
}

bool loadDriverApi(DriverApi &api, std::string &why) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = dlerror();
    why = std::string("the CUDA driver library cannot be loaded: ") +
          (error ? error : "libcuda.so.1 not found");
    return false;
  }
#define KOPT_DRIVER_LOOKUP(member, name, ...)                                                      \
  api.member = reinterpret_cast<FunctionPointer<__VA_ARGS__>>(dlsym(library, name));
  KOPT_DRIVER_REQUIRED(KOPT_DRIVER_LOOKUP)
  KOPT_DRIVER_OPTIONAL(KOPT_DRIVER_LOOKUP)
#undef KOPT_DRIVER_LOOKUP
#define KOPT_DRIVER_DEMAND(member, name, ...)                                                      \
  if (!api.member) {                                                                               \
    why = "the CUDA driver is too old: libcuda.so.1 has no " name;                                 \
    return false;                                                                                  \
  }
  KOPT_DRIVER_REQUIRED(KOPT_DRIVER_DEMAND)
#undef KOPT_DRIVER_DEMAND
  return true;
}

ClockReader::ClockReader(const std::string &pciBusId) {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library_)
    return;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library_, "nvmlInit_v2"));
  const auto find = reinterpret_cast<int (*)(const char *, void **)>(
      dlsym(library_, "nvmlDeviceGetHandleByPciBusId_v2"));
  getClock_ = reinterpret_cast<int (*)(void *, int, unsigned *)>(
      dlsym(library_, "nvmlDeviceGetClockInfo"));
  if (!init || !find || !getClock_ || init() != 0 || find(pciBusId.c_str(), &device_) != 0)
    device_ = nullptr;
}

ClockReader::~ClockReader() {
  if (!library_)
    return;
  if (const auto shutdown = reinterpret_cast<int (*)()>(dlsym(library_, "nvmlShutdown")))
    shutdown();
  dlclose(library_);
}

unsigned ClockReader::smClockMHz() const {
  constexpr int kNvmlClockSm = 1;
  unsigned clock = 0;
  return device_ && getClock_(device_, kNvmlClockSm, &clock) == 0 ? clock : 0;
}

} // namespace kopt::runtime::cuda
