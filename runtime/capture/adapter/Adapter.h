// SPDX-License-Identifier: Apache-2.0
// Turns CUPTI's callbacks into calls of the recorder.
#pragma once

#include "runtime/capture/adapter/CudaMemory.h"
#include "runtime/capture/adapter/GraphTable.h"

#include <set>

namespace kopt::runtime::capture {

class Adapter {
public:
  Adapter(Recorder &recorder, const CuptiApi &cupti, const CaptureDriver &driver);

  /// Subscribes to everything that is recorded. False, with the reason in `why`, on failure.
  bool start(std::string &why);
  /// Takes the records that CUPTI still holds; for the end of the program.
  void flush();

private:
  static void callback(void *user, CallbackDomain domain, std::uint32_t id, const void *data);
  static void requestBuffer(std::uint8_t **buffer, std::size_t *size, std::size_t *maxRecords);
  static void bufferComplete(CuContext context, std::uint32_t stream, std::uint8_t *buffer,
                             std::size_t size, std::size_t valid);

  void driverCall(DriverCall call, const CallbackData &data);
  void resource(std::uint32_t id, const ResourceData &data);
  void memoryCall(DriverCall call, const CallbackData &data);
  void codeCall(DriverCall call, const CallbackData &data);
  void graphCall(DriverCall call, const CallbackData &data);
  void launchCall(DriverCall call, const CallbackData &data);
  void launch(const CallbackData &data, CuFunction function, LaunchFacts facts);
  void beforeLaunch(KernelEntry &kernel, CuFunction function, const LaunchFacts &facts);
  KernelEntry &kernelOf(const void *handle, const char *symbolName);
  KernelDescription describe(const void *handle, const char *symbolName);
  void seen(CuContext context);
  bool isCaptured(std::uint64_t stream) const;

  Recorder &recorder_;
  const CuptiApi &cupti_;
  const CaptureDriver &driver_;
  CubinVariables variables_;
  CudaMemory memory_;
  Snapshots snapshots_;
  GraphTable graphs_;
  std::atomic<int> captures_{0}; ///< streams that are being captured
  std::atomic<bool> saidNodeSetParams_{false};
  std::mutex mutex_;
  std::set<const void *> kernels_; ///< handles that are a library's kernels, not functions
  std::set<CuContext> contexts_;
};

} // namespace kopt::runtime::capture
