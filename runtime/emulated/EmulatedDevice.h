// SPDX-License-Identifier: Apache-2.0
// The Device that runs CUDA C++ on the CPU: an Arena is its memory, a BlockRunner runs the blocks,
// and the roofline of a GPU gives the time. Only one may exist in a process at a time, because
// emulated modules find their runtime by global names.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/execute/BlockRunner.h"
#include "runtime/emulated/model/Caches.h"
#include "runtime/emulated/model/GpuSpec.h"
#include "runtime/emulated/model/Roofline.h"
#include "runtime/emulated/module/Arena.h"
#include "runtime/emulated/module/EmulatedModule.h"

#include <map>
#include <memory>

namespace kopt::runtime::emulated {

class EmulatedDevice : public Device {
public:
  EmulatedDevice(GpuSpec gpu, std::unique_ptr<Arena> arena);

  const DeviceProperties &properties() const override { return properties_; }
  Status load(const std::string &path, const std::string &symbol, ModuleProperties &out) override;
  Status unload(std::uint32_t module) override;
  Status allocate(std::size_t bytes, Address &out) override;
  Status release(Address address) override;
  Status write(Address to, const void *from, std::size_t bytes) override;
  Status read(void *to, Address from, std::size_t bytes) override;
  Status poison(Address to, const void *from, std::size_t bytes) override;
  Status protect(Address address, std::size_t bytes) override;
  Status variable(std::uint32_t module, const std::string &name, Address &out,
                  std::size_t &bytes) override;
  /// Copies of uninitialised bytes stay uninitialised.
  Status copy(Address to, Address from, std::size_t bytes) override;
  Status launch(const LaunchRequest &request) override;
  Status time(const LaunchRequest &request, bool cold, double &seconds) override;
  Status profile(const LaunchRequest &request, Counters &out,
                 std::vector<LineCost> *lines = nullptr) override;
  double smClockMHz() const override { return gpu_.smClockMHz; }

private:
  struct Prepared {
    const EmulatedModule *module = nullptr;
    std::vector<std::vector<std::byte>> storage; ///< aligned copies of the arguments
    std::vector<void *> arguments;
    LaunchShape shape;
  };
  Status prepare(const LaunchRequest &request, Prepared &out);
  struct Counted {
    LaunchCounts counts;
    std::uint64_t dirtySectors = 0; ///< left in L2 at the end
    std::vector<LineCost> lines;
  };
  /// `out` is valid until the next call.
  Status count(const LaunchRequest &request, Prepared &prepared, const Counted *&out);
  std::uint64_t fingerprint(const LaunchRequest &request) const;
  std::string describe(std::uint64_t address, std::uint32_t bytes) const;
  Status checkRange(Address address, std::size_t bytes, const char *what) const;

  GpuSpec gpu_;
  DeviceProperties properties_;
  std::unique_ptr<Arena> arena_;
  BlockRunner runner_;
  SectorCache l2_;
  std::map<std::uint32_t, std::unique_ptr<EmulatedModule>> modules_;
  std::uint32_t lastModule_ = 0;
  std::map<std::uint64_t, Counted> counted_; ///< by fingerprint()
  const LaunchRequest *launching_ = nullptr;
};

} // namespace kopt::runtime::emulated
