// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/adapter/CuptiApi.h"

#include <cstdlib>
#include <dlfcn.h>

namespace kopt::runtime::capture {

namespace {

std::vector<std::string> usualPlaces() {
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable))
      for (const char *below : {"/extras/CUPTI/lib64/libcupti.so", "/lib64/libcupti.so"})
        names.push_back(std::string(folder) + below);
  for (const char *below : {"/extras/CUPTI/lib64/libcupti.so", "/lib64/libcupti.so"})
    names.push_back(std::string("/usr/local/cuda") + below);
  return names;
}

bool lookUp(void *library, CuptiApi &api, std::string &why) {
#define KOPT_LOOKUP(member, name, ...)                                                             \
  api.member = reinterpret_cast<cuda::FunctionPointer<__VA_ARGS__>>(dlsym(library, name));         \
  if (!api.member) {                                                                               \
    why = std::string("this CUPTI has no ") + name;                                                \
    return false;                                                                                  \
  }
  KOPT_CUPTI_FUNCTIONS(KOPT_LOOKUP)
#undef KOPT_LOOKUP
#define KOPT_LOOKUP(member, name, ...)                                                             \
  api.member = reinterpret_cast<cuda::FunctionPointer<__VA_ARGS__>>(dlsym(library, name));
  KOPT_CUPTI_OPTIONAL(KOPT_LOOKUP)
#undef KOPT_LOOKUP
  return true;
}

} // namespace

std::string CuptiApi::describe(int result) const {
  const char *text = nullptr;
  if (getResultString(result, &text) != 0 || !text)
    text = "unknown CUPTI error";
  return std::string(text) + " (" + std::to_string(result) + ")";
}

bool loadCupti(const std::vector<std::string> &paths, CuptiApi &api, std::string &why) {
  std::vector<std::string> names = paths;
  for (std::string &name : usualPlaces())
    names.push_back(std::move(name));
  for (const std::string &name : names) {
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    std::string missing;
    if (lookUp(library, api, missing))
      return true;
    why = name + ": " + missing;
    dlclose(library);
  }
  if (why.empty())
    why = "libcupti.so was not found";
  return false;
}

bool loadCaptureDriver(CaptureDriver &driver, std::string &why) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = dlerror();
    why = error ? error : "libcuda.so.1 not found";
    return false;
  }
#define KOPT_LOOKUP(member, name, ...)                                                             \
  driver.member = reinterpret_cast<cuda::FunctionPointer<__VA_ARGS__>>(dlsym(library, name));
  KOPT_CAPTURE_DRIVER(KOPT_LOOKUP)
#undef KOPT_LOOKUP
  return true;
}

} // namespace kopt::runtime::capture
