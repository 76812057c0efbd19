// SPDX-License-Identifier: Apache-2.0
// libcupti.so of FakeCuda.h: callbacks on the thread of the call, activity records in the program's
// buffers.
#include "fakes/cuda/FakeCuda.h"
#include "runtime/capture/adapter/CuptiApi.h"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

namespace {

using namespace kopt::runtime::capture;

CallbackFunction callback = nullptr;
void *user = nullptr;
std::array<bool, 1024> driverEnabled{};
std::array<bool, 64> resourceEnabled{};
bool kernelsEnabled = false;
RequestBuffer requestBuffer = nullptr;
BufferComplete bufferComplete = nullptr;
const CuContext kContext = reinterpret_cast<CuContext>(0x51);

std::mutex bufferMutex;
std::uint8_t *buffer = nullptr;
std::size_t bufferSize = 0, bufferUsed = 0;

void deliver() {
  if (buffer)
    bufferComplete(kContext, 0, buffer, bufferSize, bufferUsed);
  buffer = nullptr;
  bufferUsed = 0;
}

void onCall(std::uint32_t id, int site, const char *name, const void *parameters, void *result,
            const char *symbol, std::uint32_t correlation) {
  if (!callback || id >= driverEnabled.size() || !driverEnabled[id])
    return;
  const CallbackData data{ApiSite(site), name, parameters, result,     symbol,
                          kContext,      1,    nullptr,    correlation};
  callback(user, kDomainDriver, id, &data);
}

void onModule(const char *cubin, std::size_t bytes) {
  if (!callback || !resourceEnabled[kModuleLoaded])
    return;
  ModuleResource module{1, bytes, cubin};
  const ResourceData data{kContext, nullptr, &module};
  callback(user, kDomainResource, kModuleLoaded, &data);
}

void onNodeCloned(void *graph, void *original, void *node) {
  if (!callback || !resourceEnabled[kGraphNodeCloned])
    return;
  GraphResource clone{};
  clone.originalGraph = static_cast<CuGraph>(graph);
  clone.originalNode = static_cast<CuGraphNode>(original);
  clone.node = static_cast<CuGraphNode>(node);
  const ResourceData data{kContext, nullptr, &clone};
  callback(user, kDomainResource, kGraphNodeCloned, &data);
}

void onKernel(std::uint32_t correlation, const char *symbol, std::uint64_t node,
              std::uint64_t begin, std::uint64_t end) {
  if (!kernelsEnabled)
    return;
  const std::lock_guard lock(bufferMutex);
  if (buffer && bufferUsed + sizeof(KernelActivity) > bufferSize)
    deliver();
  if (!buffer) {
    std::size_t records = 0;
    requestBuffer(&buffer, &bufferSize, &records);
  }
  KernelActivity activity{};
  activity.kind = kActivityConcurrentKernel;
  activity.start = begin;
  activity.end = end;
  activity.correlationId = correlation;
  activity.name = symbol;
  activity.graphNodeId = node;
  std::memcpy(buffer + bufferUsed, &activity, sizeof activity);
  bufferUsed += sizeof activity;
}

constexpr FakeHooks kHooks{onCall, onModule, onNodeCloned, onKernel};

} // namespace

extern "C" {

int cuptiSubscribe(Subscriber *subscriber, CallbackFunction function, void *data) {
  if (callback)
    return 39; // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
  callback = function;
  user = data;
  *subscriber = reinterpret_cast<Subscriber>(1);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto *set = driver ? reinterpret_cast<FakeSetHooks>(dlsym(driver, kFakeSetHooks)) : nullptr;
  if (!set)
    return 1;
  set(&kHooks);
  return 0;
}
int cuptiUnsubscribe(Subscriber) { return callback = nullptr, 0; }
int cuptiEnableCallback(std::uint32_t enable, Subscriber, CallbackDomain domain, std::uint32_t id) {
  if (domain == kDomainDriver && id < driverEnabled.size())
    driverEnabled[id] = enable;
  else if (domain == kDomainResource && id < resourceEnabled.size())
    resourceEnabled[id] = enable;
  else
    return 1;
  return 0;
}
int cuptiGetVersion(std::uint32_t *version) { return *version = 130000, 0; }
int cuptiGetResultString(int, const char **text) { return *text = "CUPTI_ERROR_FAKE", 0; }
int cuptiActivityRegisterCallbacks(RequestBuffer request, BufferComplete complete) {
  requestBuffer = request;
  bufferComplete = complete;
  return 0;
}
int cuptiActivityEnable(ActivityKind kind) {
  return kernelsEnabled = kind == kActivityConcurrentKernel, 0;
}
int cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard lock(bufferMutex);
  deliver();
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t *from, std::size_t valid, void **record) {
  auto *next = *record ? static_cast<std::uint8_t *>(*record) + sizeof(KernelActivity) : from;
  if (next + sizeof(KernelActivity) > from + valid)
    return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
  return *record = next, 0;
}
int cuptiActivityGetNumDroppedRecords(CuContext, std::uint32_t, std::size_t *dropped) {
  return *dropped = 0, 0;
}
int cuptiGetGraphNodeId(CuGraphNode node, std::uint64_t *id) {
  return *id = reinterpret_cast<std::uint64_t>(node), 0;
}

} // extern "C"
