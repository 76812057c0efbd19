// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/CuptiApi.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace kopt::runtime::cuda::cupti {

namespace {

/// Where a toolkit keeps it, newest first. The range profiler came with CUDA 12.6.
std::vector<std::string> places() {
  const std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  std::vector<std::string> folders = {""};
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *root = std::getenv(variable))
      folders.push_back(root);
  folders.push_back("/usr/local/cuda");
  std::vector<std::string> all;
  for (const std::string &folder : folders)
    for (const std::string &name : names) {
      if (folder.empty()) {
        all.push_back(name);
        continue;
      }
      all.push_back(folder + "/lib64/" + name);
      all.push_back(folder + "/extras/CUPTI/lib64/" + name);
    }
  return all;
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
    why = "CUPTI was not found: libcupti comes with the CUDA toolkit (CUDA_PATH names its folder)";
    return false;
  }
#define KOPT_CUPTI_LOOKUP(member, name, Params)                                                    \
  api.member = reinterpret_cast<FunctionPointer<Result(Params *)>>(dlsym(library, name));          \
  if (!api.member) {                                                                               \
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
