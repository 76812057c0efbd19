// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/adapter/Adapter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace kopt::runtime::capture {

namespace {

constexpr std::size_t kActivityBytes = 1u << 20;
/// A killed program loses at most these durations.
constexpr std::uint32_t kFlushMilliseconds = 250;
/// CU_STREAM_PER_THREAD, which a null stream means in the _ptsz functions.
constexpr std::uint64_t kPerThreadStream = 2;

constexpr DriverCall kListened[] = {
    // contexts
    kCtxDestroyV1, kCtxDestroy, kPrimaryCtxReset, kPrimaryCtxResetV2,
    // modules and libraries
    kModuleUnload, kModuleGetGlobal, kLibraryUnload, kLibraryGetKernel, kLibraryGetGlobal,
    kLibraryEnumerateKernels,
    // memory
    kMemAlloc, kMemAllocPitch, kMemAllocManaged, kMemFree, kMemHostAlloc, kMemAllocHost,
    kMemFreeHost, kMemHostRegister, kMemHostUnregister, kMemMap, kMemUnmap, kMemAllocAsync,
    kMemAllocAsyncPtsz, kMemFreeAsync, kMemFreeAsyncPtsz, kMemAllocFromPool, kMemAllocFromPoolPtsz,
    // launches
    kLaunchKernel, kLaunchKernelPtsz, kLaunchKernelEx, kLaunchKernelExPtsz, kLaunchCooperative,
    kLaunchCooperativePtsz, kLaunchCooperativeMultiDevice,
    // graphs
    kBeginCaptureV1, kBeginCaptureV1Ptsz, kBeginCapture, kBeginCapturePtsz, kBeginCaptureToGraph,
    kBeginCaptureToGraphPtsz, kEndCapture, kEndCapturePtsz, kGraphInstantiateV1,
    kGraphInstantiateV2, kGraphInstantiateWithFlags, kGraphInstantiateWithParams,
    kGraphInstantiateWithParamsPtsz, kGraphLaunch, kGraphLaunchPtsz, kGraphExecDestroy,
    kGraphExecUpdateV1, kGraphExecUpdate, kGraphExecKernelNodeSetParamsV1,
    kGraphExecKernelNodeSetParams, kGraphExecNodeSetParams};

Adapter *theAdapter = nullptr; ///< global, because CUPTI's buffer callbacks have no user data
Recorder *theRecorder = nullptr;
const CuptiApi *theCupti = nullptr;

/// True while this thread is in a callback: driver calls made there are not the program's.
thread_local bool inside = false;
class Inside {
public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

/// The launch call that this thread is currently in.
struct Pending {
  const void *handle = nullptr; ///< null: no launch was counted on entry
  std::uint32_t ordinal = 0;
  std::uint64_t sequence = 0;
  bool snapshot = false;
};
thread_local Pending pending;

/// Space for the arguments of a launch, on the stack unless they are unusually large.
class ArgumentSpace {
public:
  ArgumentSpace(const KernelEntry &kernel, const LaunchFacts &facts) {
    const std::size_t bytes = facts.packed ? facts.packedBytes : kernel.argumentBytes;
    if (bytes > sizeof small_)
      large_.reset(new std::byte[Recorder::kMostArgumentBytes]);
  }
  std::byte *data() { return large_ ? large_.get() : small_; }

private:
  std::byte small_[4096];
  std::unique_ptr<std::byte[]> large_;
};

std::uint64_t number(const void *handle) { return reinterpret_cast<std::uint64_t>(handle); }

bool isPtsz(DriverCall call) {
  return call == kLaunchKernelPtsz || call == kLaunchKernelExPtsz ||
         call == kLaunchCooperativePtsz || call == kGraphLaunchPtsz;
}

LaunchFacts factsOf(DriverCall call, const std::uint32_t *grid, const std::uint32_t *block,
                    std::uint32_t shared, CuStream stream) {
  LaunchFacts facts;
  std::copy_n(grid, 3, facts.grid.begin());
  std::copy_n(block, 3, facts.block.begin());
  facts.sharedBytes = shared;
  facts.stream = !stream && isPtsz(call) ? kPerThreadStream : number(stream);
  return facts;
}

/// The name of a GPU from its bytes: "GPU-" and digits in groups.
std::string nameOf(const unsigned char (&uuid)[16]) {
  std::string text = trace::hexOf(uuid);
  for (const std::size_t at : {20, 16, 12, 8})
    text.insert(at, "-");
  return "GPU-" + text;
}

} // namespace

Adapter::Adapter(Recorder &recorder, const CuptiApi &cupti, const CaptureDriver &driver)
    : recorder_(recorder), cupti_(cupti), driver_(driver), memory_(driver, variables_),
      snapshots_(recorder, memory_),
      graphs_(recorder, driver,
              [this](const void *handle) -> KernelEntry & { return kernelOf(handle, nullptr); }) {}

bool Adapter::start(std::string &why) {
  theAdapter = this;
  theRecorder = &recorder_;
  theCupti = &cupti_;
  Subscriber subscriber = nullptr;
  if (const int result = cupti_.subscribe(&subscriber, callback, this); result != 0) {
    why = "cuptiSubscribe: " + cupti_.describe(result);
    return false;
  }
  // A call that this CUPTI does not know is never made.
  for (const DriverCall call : kListened)
    cupti_.enableCallback(1, subscriber, kDomainDriver, call);
  cupti_.enableCallback(1, subscriber, kDomainResource, kGraphNodeCloned);
  if (recorder_.config().code || !recorder_.config().rules.empty())
    cupti_.enableCallback(1, subscriber, kDomainResource, kModuleLoaded);
  if (!recorder_.config().timing)
    return true;
  int result = cupti_.activityRegisterCallbacks(requestBuffer, bufferComplete);
  if (result == 0)
    result = cupti_.activityEnable(kActivityConcurrentKernel);
  if (result != 0)
    recorder_.note("warning: no durations: CUPTI does not record kernels: " +
                   cupti_.describe(result));
  else if (cupti_.activityFlushPeriod)
    cupti_.activityFlushPeriod(kFlushMilliseconds);
  return true;
}

void Adapter::flush() {
  if (!recorder_.config().timing)
    return;
  const Inside guard;
  cupti_.activityFlushAll(1);
  std::size_t dropped = 0;
  if (cupti_.activityGetNumDroppedRecords(nullptr, 0, &dropped) == 0 && dropped > 0)
    recorder_.note("warning: CUPTI dropped " + std::to_string(dropped) +
                   " kernel records: those durations are missing");
}

void Adapter::requestBuffer(std::uint8_t **buffer, std::size_t *size, std::size_t *maxRecords) {
  *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, kActivityBytes));
  *size = *buffer ? kActivityBytes : 0;
  *maxRecords = 0;
}

void Adapter::bufferComplete(CuContext, std::uint32_t, std::uint8_t *buffer, std::size_t,
                             std::size_t valid) {
  void *record = nullptr;
  while (buffer && valid > 0 && theCupti->activityGetNextRecord(buffer, valid, &record) == 0) {
    KernelActivity activity;
    std::memcpy(&activity.kind, record, sizeof activity.kind);
    if (activity.kind != kActivityKernel && activity.kind != kActivityConcurrentKernel)
      continue;
    std::memcpy(static_cast<void *>(&activity), record, sizeof activity);
    const std::uint32_t kernel =
        activity.graphNodeId != 0 && activity.name ? theRecorder->idOf(activity.name) : UINT32_MAX;
    theRecorder->duration(activity.correlationId, kernel, activity.graphNodeId, activity.start,
                          activity.end);
  }
  std::free(buffer);
}

void Adapter::callback(void *user, CallbackDomain domain, std::uint32_t id, const void *data) {
  if (inside)
    return;
  const Inside guard;
  auto &self = *static_cast<Adapter *>(user);
  if (domain == kDomainDriver)
    self.driverCall(DriverCall(id), *static_cast<const CallbackData *>(data));
  else if (domain == kDomainResource)
    self.resource(id, *static_cast<const ResourceData *>(data));
}

void Adapter::resource(std::uint32_t id, const ResourceData &data) {
  if (id == kModuleLoaded && data.descriptor) {
    const auto &module = *static_cast<const ModuleResource *>(data.descriptor);
    if (module.cubin)
      variables_.add(readCubinSymbols({module.cubin, module.cubinSize}));
  } else if (id == kGraphNodeCloned && data.descriptor && cupti_.getGraphNodeId) {
    const auto &graph = *static_cast<const GraphResource *>(data.descriptor);
    std::uint64_t node = 0;
    if (cupti_.getGraphNodeId(graph.node, &node) == 0)
      graphs_.cloned(graph.originalNode, node);
  }
}

void Adapter::driverCall(DriverCall call, const CallbackData &data) {
  switch (call) {
  case kLaunchKernel:
  case kLaunchKernelPtsz:
  case kLaunchKernelEx:
  case kLaunchKernelExPtsz:
  case kLaunchCooperative:
  case kLaunchCooperativePtsz:
  case kLaunchCooperativeMultiDevice:
    return launchCall(call, data);
  case kCtxDestroyV1:
  case kCtxDestroy:
  case kPrimaryCtxReset:
  case kPrimaryCtxResetV2:
    // The context's records must be fetched while it exists.
    if (data.site == kEnter && recorder_.config().timing)
      cupti_.activityFlushAll(0);
    return;
  case kBeginCaptureV1:
  case kBeginCaptureV1Ptsz:
  case kBeginCapture:
  case kBeginCapturePtsz:
  case kBeginCaptureToGraph:
  case kBeginCaptureToGraphPtsz:
    if (data.site == kEnter)
      captures_.fetch_add(1);
    else if (data.returnValue && *static_cast<const CuResult *>(data.returnValue) != cuda::kSuccess)
      captures_.fetch_sub(1);
    return;
  default:
    break;
  }
  if (data.site != kExit || !data.parameters)
    return;
  const CuResult result =
      data.returnValue ? *static_cast<const CuResult *>(data.returnValue) : cuda::kSuccess;
  if (call == kEndCapture || call == kEndCapturePtsz) {
    if (captures_.fetch_sub(1) <= 0)
      captures_.store(0);
    return;
  }
  if (result != cuda::kSuccess)
    return;
  memoryCall(call, data);
  codeCall(call, data);
  graphCall(call, data);
}

void Adapter::memoryCall(DriverCall call, const CallbackData &data) {
  using trace::AllocationKind;
  const auto allocated = [&](std::uint64_t base, std::uint64_t bytes, AllocationKind kind) {
    if (base != 0 && bytes > 0)
      recorder_.allocated({base, bytes, kind, {}});
  };
  switch (call) {
  case kMemAlloc:
  case kMemAllocManaged:
  case kMemAllocAsync:
  case kMemAllocAsyncPtsz:
  case kMemAllocFromPool:
  case kMemAllocFromPoolPtsz: {
    const auto &made = *static_cast<const MemAllocCall *>(data.parameters);
    allocated(*made.pointer, made.bytes,
              call == kMemAlloc          ? AllocationKind::Device
              : call == kMemAllocManaged ? AllocationKind::Managed
                                         : AllocationKind::Async);
    return;
  }
  case kMemAllocPitch: {
    const auto &made = *static_cast<const MemAllocPitchCall *>(data.parameters);
    allocated(*made.pointer, *made.pitch * made.height, AllocationKind::Device);
    return;
  }
  case kMemHostAlloc:
  case kMemAllocHost: {
    const auto &made = *static_cast<const MemHostAllocCall *>(data.parameters);
    allocated(number(*made.pointer), made.bytes, AllocationKind::Host);
    return;
  }
  case kMemHostRegister: {
    const auto &made = *static_cast<const MemHostRegisterCall *>(data.parameters);
    allocated(number(made.pointer), made.bytes, AllocationKind::Host);
    return;
  }
  case kMemMap: {
    const auto &made = *static_cast<const MemMapCall *>(data.parameters);
    allocated(made.pointer, made.bytes, AllocationKind::Mapped);
    return;
  }
  case kMemFree:
  case kMemFreeAsync:
  case kMemFreeAsyncPtsz:
    recorder_.freed(static_cast<const MemFreeCall *>(data.parameters)->pointer);
    return;
  case kMemUnmap:
    recorder_.freed(static_cast<const MemMapCall *>(data.parameters)->pointer);
    return;
  case kMemFreeHost:
  case kMemHostUnregister:
    recorder_.freed(number(static_cast<const MemHostPointerCall *>(data.parameters)->pointer));
    return;
  default:
    return;
  }
}

void Adapter::codeCall(DriverCall call, const CallbackData &data) {
  switch (call) {
  case kModuleGetGlobal:
  case kLibraryGetGlobal: {
    const auto &found = *static_cast<const GetGlobalCall *>(data.parameters);
    if (!found.pointer || !found.name)
      return;
    // The program may not have asked for the size; then ask the driver.
    std::size_t bytes = found.bytes ? *found.bytes : 0;
    CuDevicePointer pointer = *found.pointer;
    if (!found.bytes && call == kModuleGetGlobal && driver_.moduleGetGlobal)
      driver_.moduleGetGlobal(&pointer, &bytes, static_cast<CuModule>(found.owner), found.name);
    if (pointer != 0 && bytes > 0)
      recorder_.allocated({pointer, bytes, trace::AllocationKind::Symbol, found.name});
    return;
  }
  case kLibraryGetKernel: {
    const auto &found = *static_cast<const LibraryGetKernelCall *>(data.parameters);
    memory_.fromLibrary(*found.kernel, found.library);
    const std::lock_guard lock(mutex_);
    kernels_.insert(*found.kernel);
    return;
  }
  case kLibraryEnumerateKernels: {
    const auto &listed = *static_cast<const LibraryEnumerateKernelsCall *>(data.parameters);
    for (std::uint32_t i = 0; i < listed.count; ++i)
      memory_.fromLibrary(listed.kernels[i], listed.library);
    const std::lock_guard lock(mutex_);
    kernels_.insert(listed.kernels, listed.kernels + listed.count);
    return;
  }
  case kModuleUnload:
  case kLibraryUnload:
    recorder_.forgetHandles();
    return;
  default:
    return;
  }
}

void Adapter::graphCall(DriverCall call, const CallbackData &data) {
  switch (call) {
  case kGraphInstantiateV1:
  case kGraphInstantiateV2:
  case kGraphInstantiateWithFlags:
  case kGraphInstantiateWithParams:
  case kGraphInstantiateWithParamsPtsz: {
    const auto &made = *static_cast<const GraphInstantiateCall *>(data.parameters);
    graphs_.instantiated(*made.exec, made.graph);
    return;
  }
  case kGraphExecUpdateV1:
  case kGraphExecUpdate: {
    const auto &made = *static_cast<const GraphExecUpdateCall *>(data.parameters);
    graphs_.updated(made.exec, made.graph);
    return;
  }
  case kGraphExecKernelNodeSetParamsV1:
  case kGraphExecKernelNodeSetParams: {
    const auto &made = *static_cast<const GraphExecKernelNodeSetParamsCall *>(data.parameters);
    if (made.parameters)
      graphs_.changed(made.exec, made.node, *made.parameters,
                      call == kGraphExecKernelNodeSetParams);
    return;
  }
  case kGraphExecNodeSetParams:
    if (!saidNodeSetParams_.exchange(true))
      recorder_.note("warning: cuGraphExecNodeSetParams is not followed: recorded arguments of "
                     "such graphs may be old");
    return;
  case kGraphExecDestroy:
    graphs_.destroyed(static_cast<const GraphExecDestroyCall *>(data.parameters)->exec);
    return;
  case kGraphLaunch:
  case kGraphLaunchPtsz: {
    const auto &made = *static_cast<const GraphLaunchCall *>(data.parameters);
    const std::uint32_t none[3] = {1, 1, 1};
    LaunchFacts facts = factsOf(call, none, none, 0, made.stream);
    facts.context = number(data.context);
    facts.correlation = data.correlationId;
    seen(data.context);
    graphs_.launched(made.exec, facts);
    return;
  }
  default:
    return;
  }
}

void Adapter::launchCall(DriverCall call, const CallbackData &data) {
  if (!data.parameters || (data.site == kEnter && recorder_.config().rules.empty()))
    return;
  if (call == kLaunchKernel || call == kLaunchKernelPtsz) {
    const auto &made = *static_cast<const LaunchKernelCall *>(data.parameters);
    LaunchFacts facts = factsOf(call, made.grid, made.block, made.sharedBytes, made.stream);
    setArguments(facts, made.parameters, made.extra);
    return launch(data, made.function, facts);
  }
  if (call == kLaunchKernelEx || call == kLaunchKernelExPtsz) {
    const auto &made = *static_cast<const LaunchKernelExCall *>(data.parameters);
    if (!made.config)
      return;
    const LaunchConfig &config = *made.config;
    LaunchFacts facts = factsOf(call, config.grid, config.block, config.sharedBytes, config.stream);
    for (std::uint32_t i = 0; config.attributes && i < config.attributeCount; ++i) {
      const LaunchAttribute &attribute = config.attributes[i];
      if (attribute.id == kAttributeCooperative)
        facts.flags |= attribute.value.cooperative ? trace::kCooperative : 0;
      else if (attribute.id == kAttributeCluster || attribute.id == kAttributePreferredCluster)
        facts.flags |= trace::kCluster;
      else if (attribute.id != kAttributeIgnore)
        facts.flags |=
            std::ranges::find(kAttributesOfSpeed, attribute.id) != std::end(kAttributesOfSpeed)
                ? trace::kOtherAttributes
                : trace::kUnknownAttributes;
    }
    setArguments(facts, made.parameters, made.extra);
    return launch(data, made.function, facts);
  }
  const auto cooperative = [&](const LaunchCooperativeCall &made) {
    LaunchFacts facts = factsOf(call, made.grid, made.block, made.sharedBytes, made.stream);
    facts.flags |= trace::kCooperative;
    setArguments(facts, made.parameters, nullptr);
    launch(data, made.function, facts);
  };
  if (call != kLaunchCooperativeMultiDevice)
    return cooperative(*static_cast<const LaunchCooperativeCall *>(data.parameters));
  const auto &made = *static_cast<const MultiDeviceLaunchCall *>(data.parameters);
  if (data.site == kExit)
    for (std::uint32_t i = 0; made.launches && i < made.count; ++i)
      cooperative(made.launches[i]);
}

bool Adapter::isCaptured(std::uint64_t stream) const {
  int status = 0;
  return captures_.load(std::memory_order_relaxed) > 0 &&
         called(driver_.streamIsCapturing, reinterpret_cast<CuStream>(stream), &status) ==
             cuda::kSuccess &&
         status != 0;
}

void Adapter::launch(const CallbackData &data, CuFunction function, LaunchFacts facts) {
  facts.context = number(data.context);
  facts.correlation = data.correlationId;
  KernelEntry &kernel = kernelOf(function, data.symbolName);
  if (data.site == kEnter) {
    pending = {};
    if (kernel.rule && !isCaptured(facts.stream))
      beforeLaunch(kernel, function, facts);
    return;
  }
  const Pending mine = pending;
  pending = {};
  const CuResult result =
      data.returnValue ? *static_cast<const CuResult *>(data.returnValue) : cuda::kSuccess;
  if (result != cuda::kSuccess) {
    if (mine.snapshot)
      snapshots_.abandon();
    return;
  }
  if (isCaptured(facts.stream))
    return; // recorded when its graph is launched
  seen(data.context);
  const bool counted = mine.handle == function;
  const std::uint32_t ordinal = counted ? mine.ordinal : recorder_.count(kernel);
  const std::uint64_t sequence = counted ? mine.sequence : recorder_.nextSequence();
  ArgumentSpace arguments(kernel, facts);
  const std::size_t bytes = Recorder::pack(kernel, facts, arguments.data());
  recorder_.launch(kernel, ordinal, facts, sequence, arguments.data(), bytes);
  if (mine.snapshot) {
    memory_.use(data.context);
    snapshots_.after(facts);
  }
}

void Adapter::beforeLaunch(KernelEntry &kernel, CuFunction function, const LaunchFacts &facts) {
  pending.handle = function;
  pending.ordinal = recorder_.count(kernel);
  pending.sequence = recorder_.nextSequence();
  if (!recorder_.wants(kernel, pending.ordinal, facts))
    return;
  // While any stream is being captured, a forbidden call would break the capture.
  if (captures_.load() > 0) {
    recorder_.notSnapshotted(pending.sequence,
                             "a stream was being captured into a graph at that time");
    return;
  }
  ArgumentSpace arguments(kernel, facts);
  const std::size_t bytes = Recorder::pack(kernel, facts, arguments.data());
  memory_.use(reinterpret_cast<CuContext>(facts.context));
  pending.snapshot =
      snapshots_.before(pending.sequence, function, kernel, facts, arguments.data(), bytes);
}

KernelEntry &Adapter::kernelOf(const void *handle, const char *symbolName) {
  return recorder_.kernel(handle, [&] { return describe(handle, symbolName); });
}

KernelDescription Adapter::describe(const void *handle, const char *symbolName) {
  const auto function = static_cast<CuFunction>(const_cast<void *>(handle));
  const auto kernel = static_cast<CuKernel>(const_cast<void *>(handle));
  bool isKernel = false;
  {
    const std::lock_guard lock(mutex_);
    isKernel = kernels_.contains(handle);
  }
  KernelDescription description;
  const char *name = nullptr;
  if (isKernel)
    called(driver_.kernelGetName, &name, kernel);
  else
    called(driver_.funcGetName, &name, function);
  if (!name)
    name = symbolName;
  description.symbol = name ? name : "(kernel without a name)";
  const auto parameter = [&](std::size_t index, std::size_t &offset,
                             std::size_t &bytes) -> CuResult {
    return isKernel ? called(driver_.kernelGetParamInfo, kernel, index, &offset, &bytes)
                    : called(driver_.funcGetParamInfo, function, index, &offset, &bytes);
  };
  std::size_t offset = 0, bytes = 0;
  CuResult result = cuda::kSuccess;
  while (description.parameters.size() < 4096 &&
         (result = parameter(description.parameters.size(), offset, bytes)) == cuda::kSuccess)
    description.parameters.push_back({std::uint32_t(offset), std::uint32_t(bytes)});
  // The driver reports an index past the last parameter as an invalid value. Any other error means
  // that the layout is not known.
  description.layoutKnown = result == cuda::kErrorInvalidValue;
  if (!description.layoutKnown)
    description.parameters.clear();
  description.code = variables_.codeOf(description.symbol);
  return description;
}

void Adapter::seen(CuContext context) {
  thread_local CuContext last = nullptr;
  if (context == last)
    return;
  last = context;
  {
    const std::lock_guard lock(mutex_);
    if (!contexts_.insert(context).second)
      return;
  }
  CuDevice device = -1;
  char name[256] = "";
  cuda::CuUuid uuid{};
  if (called(driver_.ctxGetDevice, &device) == cuda::kSuccess) {
    called(driver_.deviceGetName, name, int(sizeof name - 1), device);
    called(driver_.deviceGetUuid, &uuid, device);
  }
  recorder_.context(number(context), device, name, nameOf(uuid.bytes));
}

} // namespace kopt::runtime::capture
