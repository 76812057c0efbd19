// SPDX-License-Identifier: Apache-2.0
// The contents of the memory that a launch can reach, before and after it. Only one snapshot is
// taken at a time; a second thread waits.
#pragma once

#include "runtime/capture/Recorder.h"

namespace kopt::runtime::capture {

/// The memory of a program's devices.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  /// Waits until the work in the launch's stream is done, at most `seconds`. False, with the reason
  /// in `why`, if it is not.
  virtual bool wait(const LaunchFacts &facts, double seconds, std::string &why) = 0;
  virtual bool read(std::uint64_t address, std::size_t bytes, std::byte *to, std::string &why) = 0;
  /// The variables of the kernel's module. A variable whose address is not known has only a name.
  virtual std::vector<LiveAllocation> variables(const void *kernelHandle,
                                                const KernelEntry &kernel) = 0;
  /// cudaLimitStackSize of the launch's context, in bytes for each thread; 0: not known.
  virtual std::uint32_t stackBytes() = 0;
};

class Snapshots {
public:
  Snapshots(Recorder &recorder, DeviceMemory &memory) : recorder_(recorder), memory_(memory) {}

  /// To be called before a launch. If it returns true, the same thread must call after() or
  /// abandon(). If false, the reason is in the log, and neither may be called.
  bool before(std::uint64_t launch, const void *handle, const KernelEntry &kernel,
              const LaunchFacts &facts, const std::byte *arguments, std::size_t bytes);
  void after(const LaunchFacts &facts);
  /// To be called instead of after() if the launch failed.
  void abandon();

private:
  struct Reached {
    LiveAllocation allocation;
    std::uint8_t depth = 0;
  };
  void reach(std::uint64_t address, std::uint8_t depth);
  void reachAll(const std::byte *bytes, std::size_t size, std::uint8_t depth);
  trace::SnapshotItem store(const Reached &reached, bool follow);

  Recorder &recorder_;
  DeviceMemory &memory_;
  std::mutex taking_; ///< held from before() to after()
  std::uint64_t launch_ = 0;
  std::vector<Reached> reached_;
  std::uint64_t storedBytes_ = 0;
  bool capSaid_ = false;
};

} // namespace kopt::runtime::capture
