// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/CuptiApi.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <vector>

namespace kopt::runtime::cuda::cupti {

namespace {

/// The files that KOPT_CUPTI lists; names for the loader's own search if it is unset.
std::vector<std::string> places() {
  const char *named = std::getenv("KOPT_CUPTI");
  if (!named)
    return {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  std::vector<std::string> files;
  std::istringstream list(named);
  for (std::string file; std::getline(list, file, ':');)
    if (!file.empty())
      files.push_back(file);
  return files;
}

} // namespace

std::string Api::describe(Result result) const {
  const char *name = nullptr;
  if (!resultString || resultString(result, &name) != kOk || !name)
    name = "CUPTI error";
  return std::string(name) + " (" + std::to_string(result) + ")";
}

bool load(Api &api, std::string &why) {
  void *library = nullptr;
  for (const std::string &place : places())
    if ((library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
  if (!library) {
    why = "CUPTI was not found: libcupti.so comes with the CUDA toolkit ('kopt doctor' says where "
          "kopt looks)";
    return false;
  }
#define KOPT_CUPTI_LOOKUP(member, name, Params)                                                    \
  api.member = reinterpret_cast<Function<Params>::Pointer>(dlsym(library, name));                  \
  if (!api.member.pointer) {                                                                       \
    why = "this CUPTI has no " name ": the range profiler came with CUDA 12.6";                    \
    return false;                                                                                  \
  }
  KOPT_CUPTI_FUNCTIONS(KOPT_CUPTI_LOOKUP)
#undef KOPT_CUPTI_LOOKUP
  api.resultString = reinterpret_cast<FunctionPointer<Result(Result, const char **)>>(
      dlsym(library, "cuptiGetResultString"));
  return true;
}

} // namespace kopt::runtime::cuda::cupti
