// SPDX-License-Identifier: Apache-2.0
// Reads the program's device memory through the driver API, during driver calls of the program.
#pragma once

#include "runtime/capture/CubinVariables.h"
#include "runtime/capture/Snapshots.h"
#include "runtime/capture/adapter/CuptiApi.h"

#include <map>

namespace kopt::runtime::capture {

class CudaMemory final : public DeviceMemory {
public:
  CudaMemory(const CaptureDriver &driver, const CubinVariables &variables)
      : driver_(driver), variables_(variables) {}

  /// Sets the context that is current on this thread, for the calls below.
  void use(CuContext context) { context_ = context; }

  /// Records that the kernel with this handle came from `library`.
  void fromLibrary(const void *kernelHandle, CuLibrary library);

  bool wait(const LaunchFacts &facts, double seconds, std::string &why) override;
  bool read(std::uint64_t address, std::size_t bytes, std::byte *to, std::string &why) override;
  std::vector<LiveAllocation> variables(const void *kernelHandle,
                                        const KernelEntry &kernel) override;
  std::uint32_t stackBytes() override;

private:
  const CaptureDriver &driver_;
  const CubinVariables &variables_;
  CuContext context_ = nullptr;
  std::mutex mutex_;
  std::map<const void *, CuLibrary> libraries_; ///< by kernel
  /// kopt's own streams: the program's streams and the default stream are not used.
  std::map<CuContext, CuStream> streams_;
};

} // namespace kopt::runtime::capture
