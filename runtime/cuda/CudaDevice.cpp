// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/CudaDevice.h"

#include "runtime/device/Check.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace kopt::runtime {

std::unique_ptr<Device> openCudaDevice(int ordinal, std::string &why) {
  return cuda::CudaDevice::open(ordinal, why);
}

namespace cuda {

namespace {

/// Released memory is filled with this, and kept up to this part of the GPU's.
constexpr unsigned kForgotten = 0xcbcbcbcb;
constexpr std::uint64_t kKeptPart = 8;

/// Errors that a candidate causes and after which every call on the context fails, so that the
/// process must end.
bool isKernelFault(CuResult result) {
  switch (result) {
  case kErrorIllegalAddress:
  case kErrorAssert:
  case kErrorHardwareStack:
  case kErrorIllegalInstruction:
  case kErrorMisalignedAddress:
  case kErrorInvalidAddressSpace:
  case kErrorInvalidPc:
  case kErrorLaunchFailed:
    return true;
  default:
    return false;
  }
}

std::string formatUuid(const CuUuid &uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", uuid.bytes[i]);
    text += hex;
    if (i == 3 || i == 5 || i == 7 || i == 9)
      text += '-';
  }
  return text;
}

} // namespace

std::unique_ptr<CudaDevice> CudaDevice::open(int ordinal, std::string &why) {
  std::unique_ptr<CudaDevice> device(new CudaDevice);
  if (!device->initialise(ordinal, why))
    return nullptr;
  return device;
}

bool CudaDevice::initialise(int ordinal, std::string &why) {
  // Lazy loading would put a module's upload into its first timed launch.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  if (!loadDriverApi(api_, why))
    return false;
  const auto failed = [&](CuResult result, const char *what) {
    if (result == kSuccess)
      return false;
    why = std::string(what) + " failed: " + api_.describe(result);
    return true;
  };
  if (failed(api_.init(0), "cuInit"))
    return false;
  int count = 0;
  if (failed(api_.deviceGetCount(&count), "cuDeviceGetCount"))
    return false;
  if (ordinal < 0 || ordinal >= count) {
    why = "this machine has no CUDA device " + std::to_string(ordinal) +
          "; the number of its devices is " + std::to_string(count);
    return false;
  }
  ordinal_ = ordinal;
  if (failed(api_.deviceGet(&device_, ordinal), "cuDeviceGet") ||
      failed(api_.primaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain") ||
      failed(api_.ctxSetCurrent(context_), "cuCtxSetCurrent") ||
      failed(api_.ctxGetLimit(&defaultStackBytes_, kLimitStackSize), "cuCtxGetLimit") ||
      failed(api_.streamCreate(&stream_, 0), "cuStreamCreate") ||
      failed(api_.eventCreate(&start_, 0), "cuEventCreate") ||
      failed(api_.eventCreate(&stop_, 0), "cuEventCreate"))
    return false;

  char name[256] = "", bus[32] = "";
  CuUuid uuid{};
  int version = 0;
  std::size_t memory = 0;
  if (failed(api_.deviceGetName(name, sizeof name, device_), "cuDeviceGetName") ||
      failed(api_.deviceGetUuid(&uuid, device_), "cuDeviceGetUuid") ||
      failed(api_.driverGetVersion(&version), "cuDriverGetVersion") ||
      failed(api_.deviceTotalMem(&memory, device_), "cuDeviceTotalMem") ||
      failed(api_.deviceGetPciBusId(bus, sizeof bus, device_), "cuDeviceGetPCIBusId"))
    return false;
  stackBytes_ = defaultStackBytes_;
  properties_.kind = "cuda";
  properties_.name = name;
  properties_.arch = "sm_" + std::to_string(attribute(kComputeCapabilityMajor)) +
                     std::to_string(attribute(kComputeCapabilityMinor));
  properties_.driver =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  properties_.uuid = formatUuid(uuid);
  properties_.l2Bytes = std::uint64_t(std::max(0, attribute(kL2CacheSize)));
  properties_.memoryBytes = memory;
  properties_.multiprocessors = std::uint32_t(attribute(kMultiprocessorCount));
  // DRAM makes two transfers a clock and pin; a multiprocessor stores at most 128 bytes a clock.
  properties_.dramBytesPerSecond =
      2e3 * attribute(kMemoryClockKilohertz) * attribute(kMemoryBusBits) / 8;
  properties_.storeBytesPerSecond =
      128e3 * attribute(kClockKilohertz) * attribute(kMultiprocessorCount);
  properties_.maxThreadsPerBlock = std::uint32_t(attribute(kMaxThreadsPerBlock));
  properties_.maxSharedPerBlock = std::uint32_t(attribute(kMaxSharedMemoryPerBlockOptin));
  nvml_.emplace(bus);
  properties_.facts = nvml_->facts();
  properties_.facts["pci_bus"] = bus;
  properties_.facts["visible_devices"] = std::to_string(count);
  return true;
}

CudaDevice::~CudaDevice() {
  // Releasing the primary context frees modules, memory, stream and events. After a fault the
  // context is already lost.
  if (context_ && usable_)
    api_.primaryCtxRelease(device_);
}

int CudaDevice::attribute(CuDeviceAttribute which) const {
  int value = 0;
  return api_.deviceGetAttribute(&value, which, device_) == kSuccess ? value : 0;
}

Status CudaDevice::check(CuResult result, const char *what) {
  if (result == kSuccess)
    return {};
  std::string detail = std::string(what) + ": " + api_.describe(result);
  if (isKernelFault(result)) {
    usable_ = false;
    return {StatusCode::Fault, std::move(detail)};
  }
  if (result == kErrorLaunchTimeout) {
    usable_ = false;
    return {StatusCode::TimedOut, std::move(detail)};
  }
  // Out of memory leaves the context as it was. After any other unexpected error the context is not
  // trusted.
  if (result == kErrorOutOfMemory)
    return {StatusCode::NoMemory, std::move(detail)};
  usable_ = false;
  return {StatusCode::DeviceError, std::move(detail)};
}

Status CudaDevice::load(const std::string &path, const std::string &symbol, ModuleProperties &out) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return {StatusCode::DeviceError, "cannot read the module " + path};
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  if (image.size() < 64 || image.compare(0, 4,
                                         "\x7f"
                                         "ELF") != 0)
    return {StatusCode::LaunchFailed, path + " is not a cubin"};

  LoadedModule loaded;
  if (const CuResult result = api_.moduleLoadData(&loaded.module, image.data());
      result != kSuccess) {
    if (isKernelFault(result))
      return check(result, "cuModuleLoadData");
    return {StatusCode::LaunchFailed,
            "the driver refuses the module " + path + ": " + api_.describe(result)};
  }
  if (Status status = selectFunction(symbol, loaded); !status.ok()) {
    api_.moduleUnload(loaded.module);
    return status;
  }

  const auto fact = [&](CuFunctionAttribute which) {
    int value = 0;
    api_.funcGetAttribute(&value, which, loaded.function);
    return std::uint32_t(std::max(0, value));
  };
  ModuleProperties &facts = loaded.properties;
  facts.module = nextModule_++;
  facts.registers = fact(kFunctionRegisters);
  facts.sharedBytes = fact(kFunctionSharedBytes);
  facts.localBytes = fact(kFunctionLocalBytes);
  facts.constBytes = fact(kFunctionConstBytes);
  facts.maxThreads = fact(kFunctionMaxThreads);
  loaded.dynamicSharedAllowed = fact(kFunctionMaxDynamicSharedBytes);
  if (api_.funcGetParamInfo) {
    loaded.parametersKnown = true;
    std::size_t offset = 0, size = 0;
    for (std::size_t i = 0; api_.funcGetParamInfo(loaded.function, i, &offset, &size) == kSuccess;
         ++i)
      loaded.parameterSizes.push_back(size);
  }
  out = facts;
  modules_.emplace(facts.module, std::move(loaded));
  return {};
}

Status CudaDevice::selectFunction(const std::string &symbol, LoadedModule &loaded) {
  if (!symbol.empty()) {
    const CuResult result = api_.moduleGetFunction(&loaded.function, loaded.module, symbol.c_str());
    if (result == kErrorNotFound)
      return {StatusCode::LaunchFailed, "the module has no kernel " + symbol};
    loaded.properties.symbol = symbol;
    return check(result, "cuModuleGetFunction");
  }
  if (!api_.moduleGetFunctionCount || !api_.moduleEnumerateFunctions || !api_.funcGetName)
    return {StatusCode::DeviceError,
            "this driver cannot list the kernels of a module (that came with CUDA 12.4): name the "
            "kernel's symbol"};
  unsigned count = 0;
  KOPT_CHECK(check(api_.moduleGetFunctionCount(&count, loaded.module), "cuModuleGetFunctionCount"));
  if (count != 1)
    return {StatusCode::LaunchFailed,
            "the module has " + std::to_string(count) + " kernels: name one"};
  KOPT_CHECK(check(api_.moduleEnumerateFunctions(&loaded.function, 1, loaded.module),
                   "cuModuleEnumerateFunctions"));
  const char *name = nullptr;
  Status status = check(api_.funcGetName(&name, loaded.function), "cuFuncGetName");
  loaded.properties.symbol = name ? name : "";
  return status;
}

Status CudaDevice::unload(std::uint32_t module) {
  const auto found = modules_.find(module);
  if (found == modules_.end())
    return {StatusCode::DeviceError, "no module " + std::to_string(module) + " is loaded"};
  const CuModule handle = found->second.module;
  modules_.erase(found);
  return check(api_.moduleUnload(handle), "cuModuleUnload");
}

Status CudaDevice::allocate(std::size_t bytes, Address &out) {
  const std::size_t needed = FreedMemory::rounded(bytes);
  if (const auto known = freed_.take(needed)) {
    out = known->address;
    allocated_[out] = known->bytes;
    return {};
  }
  CuDevicePointer pointer = 0;
  Status status = check(api_.memAlloc(&pointer, needed), "cuMemAlloc");
  if (status.code == StatusCode::NoMemory) {
    if (Status freed = reduceFreed(0); !freed.ok())
      return freed;
    status = check(api_.memAlloc(&pointer, needed), "cuMemAlloc");
  }
  if (!status.ok()) {
    status.detail += " (" + std::to_string(bytes) + " bytes of " +
                     std::to_string(properties_.memoryBytes) + " on the device)";
    return status;
  }
  out = pointer;
  allocated_[out] = needed;
  return {};
}

Status CudaDevice::reduceFreed(std::uint64_t most) {
  for (const FreedMemory::Block &block : freed_.reduce(most))
    KOPT_CHECK(check(api_.memFree(block.address), "cuMemFree"));
  return {};
}

Status CudaDevice::release(Address address) {
  const auto known = allocated_.find(address);
  if (known == allocated_.end())
    return {StatusCode::DeviceError, "release of an address that is not an allocation"};
  const FreedMemory::Block block{address, known->second};
  allocated_.erase(known);
  // No later launch may find results there.
  KOPT_CHECK(check(api_.memsetD32Async(address, kForgotten, block.bytes / 4, stream_),
                   "cuMemsetD32Async"));
  freed_.keep(block);
  return reduceFreed(properties_.memoryBytes / kKeptPart);
}

Status CudaDevice::poison(Address to, const void *from, std::size_t bytes) {
  return write(to, from, bytes);
}

Status CudaDevice::variable(std::uint32_t module, const std::string &name, Address &out,
                            std::size_t &bytes) {
  const auto found = modules_.find(module);
  if (found == modules_.end())
    return {StatusCode::DeviceError, "no module " + std::to_string(module) + " is loaded"};
  CuDevicePointer pointer = 0;
  const CuResult result =
      api_.moduleGetGlobal(&pointer, &bytes, found->second.module, name.c_str());
  if (result == kErrorNotFound)
    return {StatusCode::LaunchFailed, "the module has no variable " + name};
  out = pointer;
  return check(result, "cuModuleGetGlobal");
}

Status CudaDevice::copy(Address to, Address from, std::size_t bytes) {
  return check(api_.memcpyDtoDAsync(to, from, bytes, stream_), "cuMemcpyDtoDAsync");
}

Status CudaDevice::prepare(const LaunchRequest &request, LoadedModule *&module) {
  KOPT_CHECK(wipeStages());
  const auto found = modules_.find(request.module);
  if (found == modules_.end())
    return {StatusCode::DeviceError, "no module " + std::to_string(request.module) + " is loaded"};
  module = &found->second;
  if (module->parametersKnown) {
    const std::vector<std::size_t> &sizes = module->parameterSizes;
    if (sizes.size() != request.arguments.size())
      return {StatusCode::LaunchFailed, "the kernel takes " + std::to_string(sizes.size()) +
                                            " parameters, the launch has " +
                                            std::to_string(request.arguments.size())};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != request.arguments[i].size())
        return {StatusCode::LaunchFailed, "parameter " + std::to_string(i) + " has " +
                                              std::to_string(sizes[i]) + " bytes in the module, " +
                                              std::to_string(request.arguments[i].size()) +
                                              " in the launch"};
  }
  if (request.sharedBytes > module->dynamicSharedAllowed ||
      request.sharedBytes + module->properties.sharedBytes > gpu::kSharedWithoutOptIn) {
    const CuResult result = api_.funcSetAttribute(module->function, kFunctionMaxDynamicSharedBytes,
                                                  int(request.sharedBytes));
    if (result != kSuccess && !isKernelFault(result))
      return {StatusCode::LaunchFailed,
              std::to_string(request.sharedBytes) + " bytes of dynamic and " +
                  std::to_string(module->properties.sharedBytes) +
                  " bytes of static shared memory are too much; a block may have " +
                  std::to_string(properties_.maxSharedPerBlock) + ": " + api_.describe(result)};
    if (result != kSuccess)
      return check(result, "cuFuncSetAttribute");
    module->dynamicSharedAllowed = request.sharedBytes;
  }
  return setStackBytes(request.stackBytes);
}

Status CudaDevice::setStackBytes(std::uint32_t bytes) {
  const std::size_t wanted = bytes ? bytes : defaultStackBytes_;
  if (wanted == stackBytes_)
    return {};
  const CuResult result = api_.ctxSetLimit(kLimitStackSize, wanted);
  if (result == kErrorInvalidValue || result == kErrorOutOfMemory)
    return {StatusCode::LaunchFailed, "a stack of " + std::to_string(wanted) +
                                          " bytes per thread is refused: " + api_.describe(result)};
  KOPT_CHECK(check(result, "cuCtxSetLimit"));
  stackBytes_ = wanted;
  return {};
}

Status CudaDevice::enqueue(const LaunchRequest &request, const LoadedModule &module) {
  std::vector<void *> pointers;
  pointers.reserve(request.arguments.size());
  for (const std::vector<std::byte> &argument : request.arguments)
    pointers.push_back(const_cast<std::byte *>(argument.data()));
  const auto &grid = request.grid, &block = request.block;
  const CuResult result =
      request.cooperative
          ? api_.launchCooperativeKernel(module.function, grid[0], grid[1], grid[2], block[0],
                                         block[1], block[2], request.sharedBytes, stream_,
                                         pointers.data())
          : api_.launchKernel(module.function, grid[0], grid[1], grid[2], block[0], block[1],
                              block[2], request.sharedBytes, stream_, pointers.data(), nullptr);
  // These errors mean that the configuration was refused: nothing ran and the context is as it was.
  if (result == kErrorInvalidValue || result == kErrorLaunchOutOfResources ||
      result == kErrorCooperativeLaunchTooLarge || result == kErrorOutOfMemory ||
      result == kErrorInvalidImage || result == kErrorNoBinaryForGpu)
    return {StatusCode::LaunchFailed,
            "the launch was refused (" + std::to_string(module.properties.registers) +
                " registers a thread, at most " + std::to_string(module.properties.maxThreads) +
                " threads a block): " + api_.describe(result)};
  return check(result, "cuLaunchKernel");
}

Status CudaDevice::launch(const LaunchRequest &request) {
  LoadedModule *module = nullptr;
  KOPT_CHECK(prepare(request, module));
  if (request.scratchSeed != 0) {
    KOPT_CHECK(fillSharedMemory(std::uint32_t(request.scratchSeed)));
    KOPT_CHECK(fillLocalMemory(module->properties.localBytes, std::uint32_t(request.scratchSeed)));
  }
  KOPT_CHECK(enqueue(request, *module));
  return check(api_.streamSynchronize(stream_), "the kernel failed");
}

} // namespace cuda
} // namespace kopt::runtime
