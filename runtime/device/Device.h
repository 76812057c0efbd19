// SPDX-License-Identifier: Apache-2.0
// A device that runs kernels. kopt-runner owns exactly one and calls it from one thread. Nothing
// here throws: a candidate's failure is a Status with a description. A check that did not run is
// never Ok.
#pragma once

#include "runtime/device/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime {

struct DeviceProperties {
  std::string kind, name, arch, driver, uuid;
  std::map<std::string, std::string>
      facts; ///< settings and state of the GPU, by name, for the record
  bool modelled = false;
  std::uint64_t l2Bytes = 0, memoryBytes = 0;
  double dramBytesPerSecond = 0;  ///< upper bound of memory throughput; 0: not known
  double storeBytesPerSecond = 0; ///< upper bound of what all SMs together store; 0: not known
  std::uint32_t multiprocessors = 0, maxThreadsPerBlock = 1024, maxSharedPerBlock = 48 * 1024;
};

struct ModuleProperties {
  std::uint32_t module = 0;
  std::string symbol;
  std::uint32_t registers = 0, sharedBytes = 0, localBytes = 0, constBytes = 0, maxThreads = 0;
};

using Address = std::uint64_t; ///< in the device's address space

/// Arguments are the bytes of each parameter in order; pointers are Addresses.
struct LaunchRequest {
  std::uint32_t module = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  /// GPU: runs all blocks at once, as a barrier of the whole grid needs. Refused if they do not
  /// fit.
  bool cooperative = false;
  /// GPU: stack of each thread, as cudaLimitStackSize; 0: the driver's default.
  std::uint32_t stackBytes = 0;
  std::vector<std::vector<std::byte>> arguments;
  std::uint64_t instructionLimit = 0; ///< emulated device only; 0: no limit
  bool checkRaces = true;             ///< emulated device only
  /// Emulated device, with `checkRaces`: also reports races between reads and writes of different
  /// blocks that no fence and flag order.
  bool checkAcrossBlocks = false;
  /// Emulated device: seed of the order in which blocks, warps and lanes run; 0: the order of their
  /// indices.
  std::uint64_t scheduleSeed = 0;
  /// GPU: seed of the bits that fill shared memory, and the local memory of a kernel that has some,
  /// before launch(). Otherwise they hold what earlier launches left, often zeros or the same
  /// launch's own numbers. 0: not filled. The emulated device reports reads of uninitialised shared
  /// memory instead.
  std::uint64_t scratchSeed = 0;
  /// Emulated device: no read of shared memory that no thread has set is reported; it holds bits
  /// drawn from `scratchSeed`.
  bool readsUnsetShared = false;
};

/// Values by Nsight Compute metric name. An unknown metric is absent, never zero.
using Counters = std::map<std::string, double>;

/// What one line of the source costs in one launch.
struct LineCost {
  std::string file; ///< empty: no line is known
  std::uint32_t line = 0;
  double instructions = 0; ///< executed, one for each warp
  double sectors = 0;      ///< of global memory, in requests of warps
};

/// What a device reached in a measurement, a second: a lower bound of what it can do, never an
/// upper bound. 0: not measured.
struct MeasuredRates {
  double dramBytes = 0;      ///< bytes of DRAM, read or written
  double dramCopyBytes = 0;  ///< the same where half of them are written
  double fp32 = 0, fp64 = 0; ///< operations; a fused multiply-add is two
  double instructions = 0;   ///< instructions of warps
  std::string missing;       ///< what was not measured, and why
};

/// The hardware counters wanted of a launch. The launch runs once for each pass that they need.
struct CounterRequest {
  std::vector<std::string> metrics;
  std::function<Status()> restore; ///< restores the buffers' contents from before the launch
};

class MemoryKernels; // MemoryKernels.h

class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceProperties &properties() const = 0;

  /// Loads a module file (a cubin, or a shared object for the emulated device) and finds its
  /// kernel: `symbol`, or the only kernel if `symbol` is empty.
  virtual Status load(const std::string &path, const std::string &symbol,
                      ModuleProperties &out) = 0;
  virtual Status unload(std::uint32_t module) = 0;

  /// Allocates memory, aligned to at least 256 bytes. On the emulated device every byte outside an
  /// allocation is out of bounds, and an allocation is uninitialised until write() or copy().
  virtual Status allocate(std::size_t bytes, Address &out) = 0;
  virtual Status release(Address address) = 0;
  virtual Status write(Address to, const void *from, std::size_t bytes) = 0;
  virtual Status read(void *to, Address from, std::size_t bytes) = 0;
  /// Sets bytes that still count as uninitialised: the emulated device reports a kernel that reads
  /// them.
  virtual Status poison(Address to, const void *from, std::size_t bytes) = 0;
  /// The address and size of a variable of a loaded module, by its mangled name. LaunchFailed if
  /// the module has no such variable. Constant memory can be written and read at that address like
  /// other memory.
  virtual Status variable(std::uint32_t module, const std::string &name, Address &out,
                          std::size_t &bytes);
  /// Makes these bytes read-only for kernels, until the host writes to them. A device that cannot
  /// enforce this does nothing; a kernel's write is then noticed only if it changes a value.
  virtual Status protect(Address, std::size_t) { return {}; }
  /// Copies within the device, in the order of launches. The default goes through the host.
  virtual Status copy(Address to, Address from, std::size_t bytes);
  /// Null for a device without any.
  virtual MemoryKernels *memoryKernels() { return nullptr; }

  /// Launches and waits. The status reports what went wrong during execution.
  virtual Status launch(const LaunchRequest &request) = 0;
  /// Seconds of one launch; with `cold`, L2 is flushed first. A modelled device gives the roofline
  /// time, which is the same in each call, and need not execute a launch again whose time it knows.
  virtual Status time(const LaunchRequest &request, bool cold, double &seconds) = 0;
  /// Mean seconds of the launches of a batch that run back to back, for kernels too short for a
  /// timer to resolve. With `cold`, L2 is flushed before the batch. The default is the mean of
  /// time().
  virtual Status timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                           double &secondsEach);
  /// What is known of one launch without hardware counters; on the emulated device, all counters.
  /// `lines`, if any, gets the cost of each line, from a device that counts it.
  virtual Status profile(const LaunchRequest &request, Counters &out,
                         std::vector<LineCost> *lines = nullptr) = 0;
  /// Hardware counters in addition to those of profile(), from cold caches; a metric that the
  /// device does not have is absent. If the device has no counters, the status is Ok and `why`
  /// gives the reason and the remedy; this is the default.
  virtual Status countHardware(const LaunchRequest &request, const CounterRequest &counters,
                               Counters &out, std::string &why);
  /// Does what countHardware() with these metrics would do first, without using the device. If it
  /// fails, countHardware() gives the reason. The default does nothing.
  virtual void prepareCounters(const std::vector<std::string> & /*metrics*/) {}
  /// Makes what the first requests of a process would make: page-locked memory, kopt's own kernels.
  /// If it fails, they give the reason. The default does nothing.
  virtual void getReady() {}
  /// Checks that the device still works, by running a known-good kernel. The default, for devices
  /// without one, writes, copies and reads memory. If this is not Ok, results from this device say
  /// nothing about a candidate.
  virtual Status probe();
  /// Measures what the device reaches. Must not be called while anything else runs on it. The
  /// default, for devices whose rates are a model's, measures nothing.
  virtual Status measureRates(MeasuredRates &out);
  /// Median SM clock during the last time() calls in MHz; 0: unknown.
  virtual double smClockMHz() const { return 0; }
  /// Reasons why the GPU throttled while timing, since the last call of this function. Such times
  /// are not evidence.
  virtual std::vector<std::string> throttleReasons() { return {}; }
  /// False once a fault has poisoned the context: no later call can succeed, and the process has to
  /// end.
  virtual bool usable() const { return true; }
};

/// Opens the CUDA device with this ordinal through the driver API, which is found at run time.
/// Null, with the reason in `why`, if that fails.
std::unique_ptr<Device> openCudaDevice(int ordinal, std::string &why);
/// Opens the device that runs CUDA C++ on the CPU, with the roofline of the GPU that `gpuSpecFile`
/// describes (knowledge/gpus/NAME.txt: `key value` lines). Null, with the reason in `why`, if that
/// fails.
std::unique_ptr<Device> openEmulatedDevice(const std::string &gpuSpecFile, std::string &why);

} // namespace kopt::runtime
