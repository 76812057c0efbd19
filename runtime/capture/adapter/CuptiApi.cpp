// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/adapter/CuptiApi.h"

#include <dlfcn.h>

namespace kopt::runtime::capture {

namespace {

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
  for (const std::string &name : paths) {
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *error = dlerror();
      why = error ? error : name + " cannot be loaded";
      continue;
    }
    std::string missing;
    if (lookUp(library, api, missing))
      return true;
    why = name + ": " + missing;
    dlclose(library);
  }
  if (why.empty())
    why = "no libcupti.so was named";
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
