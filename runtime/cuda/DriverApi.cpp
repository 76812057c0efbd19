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

} // namespace kopt::runtime::cuda
