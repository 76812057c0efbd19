// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/cuda/FakeDriver.h"

#include "runtime/cuda/DriverApi.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

using namespace kopt::runtime::cuda;

namespace {

struct FakeModule {
  std::vector<std::string> kernels;
};
struct FakeGraph {
  std::vector<std::string> launches;
};

FakeGraph *capturing = nullptr;

CuFunction functionOf(std::string &name) { return reinterpret_cast<CuFunction>(&name); }
std::string &nameOf(CuFunction function) { return *reinterpret_cast<std::string *>(function); }

/// The result of a call on a context that a fault may have poisoned.
CuResult alive() { return fakeDriver().sticky ? kErrorIllegalAddress : kSuccess; }

} // namespace

FakeDriverState &fakeDriver() {
  static FakeDriverState state;
  return state;
}

namespace {

/// Copies to the device happen when something waits for them or comes after them: as late as they
/// may.
std::vector<std::function<void()>> pendingCopies;
void doCopies() {
  for (const auto &copy : std::exchange(pendingCopies, {}))
    copy();
}

} // namespace

extern "C" {

CuResult cuInit(unsigned) { return fakeDriver().initResult; }
CuResult cuDriverGetVersion(int *version) { return *version = 13000, kSuccess; }
CuResult cuGetErrorName(CuResult result, const char **name) {
  return *name = result == kErrorIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER",
         kSuccess;
}
CuResult cuGetErrorString(CuResult, const char **text) { return *text = "words", kSuccess; }
CuResult cuDeviceGetCount(int *count) { return *count = fakeDriver().devices, kSuccess; }
CuResult cuDeviceGet(CuDevice *device, int ordinal) { return *device = ordinal, kSuccess; }
CuResult cuDeviceGetName(char *name, int size, CuDevice) {
  std::strncpy(name, "NVIDIA Fake", std::size_t(size));
  return kSuccess;
}
CuResult cuDeviceGetUuid_v2(CuUuid *uuid, CuDevice) {
  for (int i = 0; i < 16; ++i)
    uuid->bytes[i] = static_cast<unsigned char>(i);
  return kSuccess;
}
CuResult cuDeviceGetAttribute(int *value, CuDeviceAttribute which, CuDevice) {
  const std::map<CuDeviceAttribute, int> values = {
      {kMaxThreadsPerBlock, 1024},
      {kWarpSize, 32},
      {kMultiprocessorCount, 132},
      {kL2CacheSize, 100 << 20},
      {kMaxThreadsPerMultiprocessor, 2048},
      {kComputeCapabilityMajor, 9},
      {kComputeCapabilityMinor, 0},
      {kMaxSharedMemoryPerBlockOptin, fakeDriver().dynamicSharedLimit},
      {kMaxSharedMemoryPerMultiprocessor, 228 * 1024},
      {kMaxRegistersPerMultiprocessor, 65536},
      {kMaxBlocksPerMultiprocessor, 32},
      {kReservedSharedMemoryPerBlock, 1024}};
  const auto found = values.find(which);
  return found == values.end() ? kErrorInvalidValue : (*value = found->second, kSuccess);
}
CuResult cuDeviceTotalMem_v2(std::size_t *bytes, CuDevice) { return *bytes = 1ull << 40, kSuccess; }
CuResult cuDeviceGetPCIBusId(char *id, int size, CuDevice) {
  std::strncpy(id, "0000:00:00.0", std::size_t(size));
  return kSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice) {
  return *context = reinterpret_cast<CuContext>(&fakeDriver()), kSuccess;
}
CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) {
  return ++fakeDriver().contextsReleased, kSuccess;
}
CuResult cuCtxSetCurrent(CuContext) { return kSuccess; }
CuResult cuCtxGetLimit(std::size_t *value, CuLimit which) {
  return *value = fakeDriver().stackBytes, which == kLimitStackSize ? kSuccess : kErrorInvalidValue;
}
CuResult cuCtxSetLimit(CuLimit which, std::size_t value) {
  if (which != kLimitStackSize || value > 64 * 1024)
    return kErrorInvalidValue;
  fakeDriver().calls.push_back("stack " + std::to_string(value));
  return fakeDriver().stackBytes = value, alive();
}

CuResult cuModuleLoadData(CuModule *module, const void *image) {
  if (fakeDriver().moduleLoadResult)
    return fakeDriver().moduleLoadResult;
  auto *loaded = new FakeModule;
  if (std::strncmp(static_cast<const char *>(image), ".version", 8) == 0) { // PTX: kopt's own
    const std::string text = static_cast<const char *>(image);
    for (std::size_t at = text.find(".entry "); at != text.npos; at = text.find(".entry ", at)) {
      at += 7;
      loaded->kernels.push_back(text.substr(at, text.find('(', at) - at));
    }
    *module = reinterpret_cast<CuModule>(loaded);
    return alive();
  }
  std::string names = static_cast<const char *>(image) + 64;
  for (std::size_t begin = 0, end; (end = names.find('\n', begin)) != names.npos; begin = end + 1)
    loaded->kernels.push_back(names.substr(begin, end - begin));
  *module = reinterpret_cast<CuModule>(loaded);
  return alive();
}
CuResult cuModuleUnload(CuModule module) {
  delete reinterpret_cast<FakeModule *>(module);
  return alive();
}
CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  for (std::string &kernel : reinterpret_cast<FakeModule *>(module)->kernels)
    if (kernel == name)
      return *function = functionOf(kernel), kSuccess;
  return kErrorNotFound;
}
CuResult cuModuleGetFunctionCount(unsigned *count, CuModule module) {
  return *count = unsigned(reinterpret_cast<FakeModule *>(module)->kernels.size()), kSuccess;
}
CuResult cuModuleEnumerateFunctions(CuFunction *functions, unsigned count, CuModule module) {
  for (unsigned i = 0; i < count; ++i)
    functions[i] = functionOf(reinterpret_cast<FakeModule *>(module)->kernels[i]);
  return kSuccess;
}
CuResult cuFuncGetName(const char **name, CuFunction function) {
  return *name = nameOf(function).c_str(), kSuccess;
}
CuResult cuFuncGetParamInfo(CuFunction, std::size_t index, std::size_t *offset, std::size_t *size) {
  if (index > 1)
    return kErrorInvalidValue;
  *offset = index * 8;
  *size = index == 0 ? 8 : 4;
  return kSuccess;
}
CuResult cuModuleGetGlobal_v2(CuDevicePointer *pointer, std::size_t *bytes, CuModule,
                              const char *name) {
  const auto found = fakeDriver().variables.find(name);
  if (found == fakeDriver().variables.end())
    return kErrorNotFound;
  *pointer = reinterpret_cast<CuDevicePointer>(found->second.data());
  *bytes = found->second.size();
  return alive();
}
CuResult cuFuncGetAttribute(int *value, CuFunctionAttribute which, CuFunction) {
  switch (which) {
  case kFunctionMaxThreads:
    return *value = 1024, kSuccess;
  case kFunctionSharedBytes:
    return *value = 1024, kSuccess;
  case kFunctionRegisters:
    return *value = 40, kSuccess;
  case kFunctionMaxDynamicSharedBytes:
    return *value = 47 * 1024, kSuccess;
  default:
    return *value = 0, kSuccess;
  }
}
CuResult cuFuncSetAttribute(CuFunction, CuFunctionAttribute which, int value) {
  if (which != kFunctionMaxDynamicSharedBytes || value + 1024 > fakeDriver().dynamicSharedLimit)
    return kErrorInvalidValue;
  return fakeDriver().dynamicSharedSet = value, kSuccess;
}

CuResult cuMemAlloc_v2(CuDevicePointer *pointer, std::size_t bytes) {
  if (bytes > fakeDriver().largestAllocation)
    return kErrorOutOfMemory;
  ++fakeDriver().allocations;
  *pointer = reinterpret_cast<CuDevicePointer>(std::malloc(bytes));
  return alive();
}
CuResult cuMemFree_v2(CuDevicePointer pointer) {
  doCopies();
  ++fakeDriver().frees;
  std::free(reinterpret_cast<void *>(pointer));
  return alive();
}
CuResult cuMemcpyHtoD_v2(CuDevicePointer to, const void *from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return alive();
}
CuResult cuMemcpyDtoH_v2(void *to, CuDevicePointer from, std::size_t bytes) {
  doCopies();
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return alive();
}
CuResult cuMemcpyHtoDAsync_v2(CuDevicePointer to, const void *from, std::size_t bytes, CuStream) {
  fakeDriver().calls.push_back("write " + std::to_string(bytes));
  pendingCopies.push_back([=] { std::memcpy(reinterpret_cast<void *>(to), from, bytes); });
  return alive();
}
CuResult cuMemcpyDtoHAsync_v2(void *to, CuDevicePointer from, std::size_t bytes, CuStream) {
  doCopies();
  fakeDriver().calls.push_back("read " + std::to_string(bytes));
  return cuMemcpyDtoH_v2(to, from, bytes);
}
CuResult cuMemAllocHost_v2(void **memory, std::size_t bytes) {
  if (fakeDriver().pageLockedLeft < bytes)
    return kErrorOutOfMemory;
  fakeDriver().pageLockedLeft -= bytes;
  *memory = std::calloc(bytes, 1);
  fakeDriver().pageLocked.emplace_back(*memory, bytes);
  return alive();
}
CuResult cuMemFreeHost(void *memory) {
  std::free(memory);
  return alive();
}
CuResult cuMemcpyDtoDAsync_v2(CuDevicePointer to, CuDevicePointer from, std::size_t bytes,
                              CuStream) {
  doCopies();
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  fakeDriver().calls.push_back("copy");
  return alive();
}
CuResult cuMemsetD32Async(CuDevicePointer, unsigned, std::size_t words, CuStream) {
  fakeDriver().calls.push_back("memset " + std::to_string(words * 4));
  return alive();
}

CuResult cuStreamCreate(CuStream *stream, unsigned) {
  return *stream = reinterpret_cast<CuStream>(&fakeDriver()), kSuccess;
}
CuResult cuStreamSynchronize(CuStream) {
  doCopies();
  fakeDriver().calls.push_back("sync");
  const CuResult result = std::exchange(fakeDriver().nextSyncResult, 0);
  fakeDriver().sticky = fakeDriver().sticky || result == kErrorIllegalAddress;
  return result ? result : alive();
}
CuResult cuStreamBeginCapture_v2(CuStream, int) {
  capturing = new FakeGraph;
  return alive();
}
CuResult cuStreamEndCapture(CuStream, CuGraph *graph) {
  *graph = reinterpret_cast<CuGraph>(std::exchange(capturing, nullptr));
  return alive();
}
CuResult cuGraphInstantiateWithFlags(CuGraphExec *out, CuGraph graph, unsigned long long) {
  *out = reinterpret_cast<CuGraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph *>(graph)));
  return alive();
}
CuResult cuGraphUpload(CuGraphExec, CuStream) { return alive(); }
CuResult cuGraphLaunch(CuGraphExec graph, CuStream) {
  doCopies();
  fakeDriver().calls.push_back(
      "graph " + std::to_string(reinterpret_cast<FakeGraph *>(graph)->launches.size()));
  return alive();
}
CuResult cuGraphExecDestroy(CuGraphExec graph) {
  delete reinterpret_cast<FakeGraph *>(graph);
  return alive();
}
CuResult cuGraphDestroy(CuGraph graph) {
  delete reinterpret_cast<FakeGraph *>(graph);
  return alive();
}
CuResult cuLaunchKernel(CuFunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, CuStream, void **arguments, void **) {
  if (const CuResult result = std::exchange(fakeDriver().nextLaunchResult, 0))
    return result;
  if (capturing) {
    capturing->launches.push_back(nameOf(function));
    return kSuccess;
  }
  doCopies();
  fakeDriver().calls.push_back("launch " + nameOf(function));
  if (fakeDriver().kernel)
    fakeDriver().kernel(nameOf(function), arguments);
  return alive();
}

CuResult cuLaunchCooperativeKernel(CuFunction function, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, unsigned, CuStream, void **) {
  if (const CuResult result = std::exchange(fakeDriver().nextLaunchResult, 0))
    return result;
  fakeDriver().calls.push_back("cooperative launch " + nameOf(function));
  return alive();
}

CuResult cuEventCreate(CuEvent *event, unsigned) {
  return *event = reinterpret_cast<CuEvent>(&fakeDriver()), kSuccess;
}
CuResult cuEventRecord(CuEvent, CuStream) {
  fakeDriver().calls.push_back("record");
  return alive();
}
CuResult cuEventSynchronize(CuEvent) {
  doCopies();
  return alive();
}
CuResult cuEventElapsedTime(float *milliseconds, CuEvent, CuEvent) {
  // Of what lies between the last two records.
  const std::vector<std::string> &calls = fakeDriver().calls;
  std::string enclosed;
  bool isInside = false;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (*call == "record" && isInside)
      break;
    isInside |= *call == "record";
    if (isInside && *call != "record")
      enclosed = *call;
  }
  *milliseconds = fakeDriver().milliseconds ? fakeDriver().milliseconds(enclosed) : 0.5f;
  return alive();
}
CuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CuFunction, int threads,
                                                     std::size_t) {
  if (threads > 1024)
    return kErrorInvalidValue;
  return *blocks = fakeDriver().occupancy, kSuccess;
}

} // extern "C"
