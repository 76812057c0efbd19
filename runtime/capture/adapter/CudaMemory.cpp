// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/adapter/CudaMemory.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace kopt::runtime::capture {

namespace {

constexpr CuResult kNotReady = 600;
constexpr unsigned kNonBlocking = 1;

std::string failed(const char *call, CuResult result) {
  return std::string(call) + " failed with error " + std::to_string(result);
}

} // namespace

bool CudaMemory::wait(const LaunchFacts &facts, double seconds, std::string &why) {
  if (!driver_.streamQuery) {
    why = "this driver has no cuStreamQuery";
    return false;
  }
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  auto pause = std::chrono::microseconds(5);
  for (;;) {
    const CuResult result = driver_.streamQuery(reinterpret_cast<CuStream>(facts.stream));
    if (result == cuda::kSuccess)
      return true;
    if (result != kNotReady) {
      why = failed("cuStreamQuery", result);
      return false;
    }
    // A kernel may wait for something that the program does after this call. The program must then
    // continue without a snapshot.
    if (Clock::now() > until) {
      why = "its stream was not done after " + std::to_string(seconds) + " s";
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(1000));
  }
}

bool CudaMemory::read(std::uint64_t address, std::size_t bytes, std::byte *to, std::string &why) {
  if (!driver_.memcpyDtoHAsync || !driver_.streamCreate || !driver_.streamSynchronize) {
    why = "this driver lacks the functions for reading memory";
    return false;
  }
  const auto succeeds = [&](const char *call, CuResult result) {
    if (result != cuda::kSuccess)
      why = failed(call, result);
    return result == cuda::kSuccess;
  };
  CuStream &stream = streams_[context_];
  if (!stream && !succeeds("cuStreamCreate", driver_.streamCreate(&stream, kNonBlocking))) {
    stream = nullptr;
    return false;
  }
  return succeeds("cuMemcpyDtoHAsync", driver_.memcpyDtoHAsync(to, address, bytes, stream)) &&
         succeeds("cuStreamSynchronize", driver_.streamSynchronize(stream));
}

void CudaMemory::fromLibrary(const void *handle, CuLibrary library) {
  const std::lock_guard lock(mutex_);
  libraries_[handle] = library;
}

std::vector<LiveAllocation> CudaMemory::variables(const void *handle, const KernelEntry &kernel) {
  const std::vector<std::string> names = variables_.of(kernel.symbol);
  if (names.empty())
    return {};
  CuLibrary library = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = libraries_.find(handle); found != libraries_.end())
      library = found->second;
  }
  // A library's kernel is not a function: take the module of the function that it refers to.
  auto function = static_cast<CuFunction>(const_cast<void *>(handle));
  CuModule module = nullptr;
  if (library)
    called(driver_.kernelGetFunction, &function, static_cast<CuKernel>(const_cast<void *>(handle)));
  if (called(driver_.funcGetModule, &module, function) != cuda::kSuccess)
    module = nullptr;
  std::vector<LiveAllocation> found;
  for (const std::string &name : names) {
    CuDevicePointer pointer = 0;
    std::size_t bytes = 0;
    const bool known = (module && called(driver_.moduleGetGlobal, &pointer, &bytes, module,
                                         name.c_str()) == cuda::kSuccess) ||
                       (library && called(driver_.libraryGetGlobal, &pointer, &bytes, library,
                                          name.c_str()) == cuda::kSuccess);
    found.push_back({known ? pointer : 0, known ? bytes : 0, trace::AllocationKind::Symbol, name});
  }
  return found;
}

std::uint32_t CudaMemory::stackBytes() {
  std::size_t bytes = 0;
  const bool known = called(driver_.ctxGetLimit, &bytes, cuda::kLimitStackSize) == cuda::kSuccess;
  return known ? std::uint32_t(bytes) : 0;
}

} // namespace kopt::runtime::capture
